# Included by the Makefile.

.PHONY: swift

swift: ## Test the Swift package against the real library (in a Debian chroot where there is no swift)
	bindings/swift/test.sh

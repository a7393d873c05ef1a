# Included by the Makefile.

.PHONY: sample sample-netns

sample: ## Test the Android sample's screens on a JVM, with the real library
	android-sample/test.sh

sample-netns: ## The sample over a slow network that is really cut (needs root and iproute2)
	android-sample/netns.sh

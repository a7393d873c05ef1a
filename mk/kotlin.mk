# Included by the Makefile.

.PHONY: bindings kotlin kotlin-bench

bindings: ## Generate the Kotlin and Swift bindings from the host library
	scripts/bindings.sh kotlin
	scripts/bindings.sh swift

kotlin: ## Build the Kotlin layer and test it against the real library on a JVM
	scripts/kotlin.sh test

kotlin-bench: ## What the FFI border costs at 30, 300 and 3,000 events/s
	scripts/kotlin.sh bench

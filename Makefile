# One way in. `make` lists what there is.

FEATURES := cli
CARGO ?= cargo

.DEFAULT_GOAL := help

include mk/*.mk

help: ## List the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | sort | expand -t 16

demo: ## Watch an answer survive a tunnel (no key, no network needed)
	@$(CARGO) run --quiet --bin rejoin -- demo $(if $(SCENARIO),--scenario $(SCENARIO))

test: ## Set up what is missing, then run every check and every test
	@scripts/test.sh

setup: ## Install what the tests need and this machine lacks
	@scripts/setup.sh

rust-test: ## Rust: all tests, fault scripts and proofs among them
	$(CARGO) test --features $(FEATURES),ffi --no-fail-fast -- --show-output

check: ## Rust: formatting, lints, documentation
	$(CARGO) fmt --check
	$(CARGO) clippy --features $(FEATURES),ffi --all-targets -- -D warnings
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --no-deps --features testkit,journal

score: ## Rust: the scores alone (fault scripts, seams, every byte), with their figures
	$(CARGO) test --features $(FEATURES),ffi --test faults --test seams --test every_byte --test sockets -- --nocapture

bench: ## Rust: what the core costs per event, beside serde_json
	$(CARGO) bench --bench core

.PHONY: help demo test setup rust-test check score bench

#!/usr/bin/env bash
# Installs what the tests need and this machine lacks. Says plainly what it cannot install.
set -euo pipefail

packages=()
command -v cc >/dev/null || packages+=(gcc libc6-dev)
for tool in python3 openssl unzip; do
    command -v "$tool" >/dev/null || packages+=("$tool")
done
if [ ${#packages[@]} -gt 0 ]; then
    if command -v apt-get >/dev/null && [ "$(id -u)" = 0 ]; then
        apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "${packages[@]}"
    else
        echo "setup: install these and run again: ${packages[*]}" >&2
        exit 1
    fi
fi

if ! command -v cargo >/dev/null; then
    echo "setup: there is no cargo. Install Rust (https://rustup.rs), then run this again." >&2
    exit 1
fi

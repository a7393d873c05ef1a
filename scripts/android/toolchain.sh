#!/usr/bin/env bash
# A Rust toolchain that can build for Android where no NDK is: rustc with the source of its standard
# library, and clang for ring's C. Debian only. Prints the folder.
#
#   scripts/android/toolchain.sh         makes it if it is not there (once, half a minute, 0.9 GB)
#   scripts/android/toolchain.sh can     says why this machine could not (exit 1), or nothing (exit 0)
#
# The Rust packages are unpacked aside, not installed: the machine's own rustc stays the one in use.
# Folder: REJOIN_ANDROID_CACHE, by default ~/.cache/rejoin-android. It can be deleted at any time.
set -euo pipefail

cache=${REJOIN_ANDROID_CACHE:-$HOME/.cache/rejoin-android}
root=$cache/rust
# `-web`: the newest rustc of a Debian release, kept up for its browsers. The packages of libraries
# have versions in their names, so apt finds them.
packages=(rustc-web cargo-web rust-web-src)

why_not() {
  [ "$(uname -sm)" = "Linux x86_64" ] || { echo "not Linux on x86_64"; return; }
  command -v apt-get > /dev/null || { echo "no apt-get"; return; }
  [ -e "$root/.made" ] && command -v clang > /dev/null && return
  [ "$(id -u)" = 0 ] || echo "not root, and something is to be installed"
}

reason=$(why_not)
if [ "${1:-}" = can ]; then
  echo "$reason"
  [ -z "$reason" ]
  exit
fi
[ -z "$reason" ] || { echo "android toolchain: cannot be made here: $reason" >&2; exit 1; }

mkdir -p "$cache/debs/partial"
exec 9> "$cache/lock"
flock 9 # two runs at once make it once
if ! command -v clang > /dev/null || [ ! -e "$root/.made" ]; then
  echo "android toolchain: making $root (log: $cache/log)" >&2
  {
    apt-get update -q
    DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends clang
    if [ ! -e "$root/.made" ]; then
      # Fetches what the machine lacks, so that an interrupted run goes on where it was.
      apt-get install -y -q --no-install-recommends --download-only \
        -o Dir::Cache::archives="$cache/debs" "${packages[@]}"
      rm -rf "$root"
      for package in "$cache"/debs/*.deb; do dpkg -x "$package" "$root"; done
      touch "$root/.made"
      rm -rf "$cache/debs"
    fi
  } > "$cache/log" 2>&1 9>&- || { tail -20 "$cache/log" >&2; exit 1; }
fi
echo "$root"

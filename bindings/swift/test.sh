#!/usr/bin/env bash
# Tests the Swift package against the library of this machine: builds it, generates the bindings, runs `swift test`.
#
#   bindings/swift/test.sh [arguments for swift test]
#
# Uses the `swift` on the PATH; where there is none, the one of scripts/swift-chroot.sh.
# A machine that can have neither skips, and says so; with CI set it fails instead.
set -euo pipefail
cd "$(dirname "$0")"
here=$PWD
root=$(cd ../.. && pwd)
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$root/target}"
target=$CARGO_TARGET_DIR
# Where SwiftPM builds: beside Cargo's output, never in the package.
build="${REJOIN_SWIFT_BUILD:-$target/swift}"
chroot=$root/scripts/swift-chroot.sh

if command -v swift >/dev/null; then
    in_swift=()
elif reason=$("$chroot" can); then
    "$chroot" make
    mkdir -p "$build"
    in_swift=("$chroot" run -b "$root" -b "$target" -b "$build" --)
else
    echo "SKIPPED: the Swift tests. No \`swift\` on the PATH, and no chroot: $reason" >&2
    [ -z "${CI:-}" ] || { echo "CI is set: that is a failure" >&2; exit 1; }
    exit 0
fi

(cd "$root" && scripts/bindings.sh swift "$target/swift-generated" && cargo build --quiet --features cli --bin rejoin)
# Only when they differ: SwiftPM rebuilds by time.
install_if_new() { cmp -s "$1" "$2" || cp "$1" "$2"; }
install_if_new "$target/swift-generated/RejoinFFI.h" Sources/RejoinFFI/include/RejoinFFI.h
install_if_new "$target/swift-generated/RejoinNative.swift" Sources/RejoinBindings/RejoinNative.swift

environment=(
    REJOIN_NATIVE=host "REJOIN_LIB_DIR=$target/debug" "REJOIN_BIN=$target/debug/rejoin" "REJOIN_ROOT=$root"
    "LD_LIBRARY_PATH=$target/debug" "HOME=${TMPDIR:-/tmp}" "REJOIN_TEST_SEED=${REJOIN_TEST_SEED:-7}"
)
cd "$here"
# One test at a time: several measure time, on few cores.
"${in_swift[@]}" env "${environment[@]}" \
    swift test --scratch-path "$build" --no-parallel -Xswiftc -warnings-as-errors "$@"

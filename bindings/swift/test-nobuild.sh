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

:
mkdir -p Sources/RejoinBindings # holds nothing that is in Git
# Only when they differ: SwiftPM rebuilds by time.
install_if_new() { cmp -s "$1" "$2" || cp "$1" "$2"; }
install_if_new "$target/swift-generated/RejoinFFI.h" Sources/RejoinFFI/include/RejoinFFI.h
install_if_new "$target/swift-generated/RejoinNative.swift" Sources/RejoinBindings/RejoinNative.swift

# HOME: SwiftPM's caches stay out of the user's.
in_swift+=(env REJOIN_NATIVE=host "REJOIN_LIB_DIR=$target/debug" "REJOIN_BIN=$target/debug/rejoin" "REJOIN_ROOT=$root"
    "HOME=${TMPDIR:-/tmp}" "REJOIN_TEST_SEED=${REJOIN_TEST_SEED:-7}")
swift_test() { # LIBRARY_DIR ARGUMENTS...
    local library=$1
    shift
    # One test at a time: several measure time, on few cores.
    "${in_swift[@]}" "LD_LIBRARY_PATH=$library" \
        swift test --scratch-path "$build" --no-parallel -Xswiftc -warnings-as-errors "$@"
}
cd "$here"
swift_test "$target/debug" "$@"
[ $# = 0 ] || exit 0

# Fakes need no native library: their tests again, with one in its place that has nothing in it.
# Symbols are bound when they are first called, so a single call would end the process.
if [ "$(uname -s)" = Linux ]; then
    mkdir -p "$build/nothing"
    echo | ${CC:-cc} -shared -o "$build/nothing/librejoin.so" -x c -
    echo "the tests of the fakes, without the library:"
    swift_test "$build/nothing" --skip-build --filter FakeTests
    if swift_test "$build/nothing" --skip-build --filter VectorsTests >"$build/nothing/log" 2>&1; then
        echo "the tests of the vectors passed without the library: this check checks nothing" >&2
        exit 1
    fi
fi

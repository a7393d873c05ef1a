#!/usr/bin/env bash
# Builds build/RejoinFFI.xcframework (iOS, its simulator, macOS) and prints the checksum that Package.swift wants.
#
# Needs macOS with Xcode and `rustup target add` of the five targets below.
# NOT RUN YET: the project's machines are Linux. It is shellcheck clean; expect to mend a line.
set -euo pipefail
cd "$(dirname "$0")"
[ "$(uname -s)" = Darwin ] || { echo "xcframework.sh: needs macOS with Xcode" >&2; exit 1; }
root=$(cd ../.. && pwd)
target=${CARGO_TARGET_DIR:-$root/target}
out=$PWD/build
export IPHONEOS_DEPLOYMENT_TARGET=16.0 MACOSX_DEPLOYMENT_TARGET=13.0

# The bindings come from an unstripped library of this machine, the same sources for every target.
(cd "$root" && scripts/bindings.sh swift "$target/swift-generated")
mkdir -p Sources/RejoinBindings
cp "$target/swift-generated/RejoinNative.swift" Sources/RejoinBindings/

# In a folder of the module's own: two XCFrameworks with `Headers/module.modulemap` collide in an app.
rm -rf "$out"
mkdir -p "$out/Headers/RejoinFFI" "$out/sim" "$out/mac"
cp "$target/swift-generated/RejoinFFI.h" Sources/RejoinFFI/include/module.modulemap "$out/Headers/RejoinFFI/"

for triple in aarch64-apple-ios aarch64-apple-ios-sim x86_64-apple-ios aarch64-apple-darwin x86_64-apple-darwin; do
    (cd "$root" && cargo rustc --lib --release --features ffi --crate-type staticlib --target "$triple")
done
lib() { echo "$target/$1/release/librejoin.a"; }
lipo -create "$(lib aarch64-apple-ios-sim)" "$(lib x86_64-apple-ios)" -output "$out/sim/librejoin.a"
lipo -create "$(lib aarch64-apple-darwin)" "$(lib x86_64-apple-darwin)" -output "$out/mac/librejoin.a"

xcodebuild -create-xcframework \
    -library "$(lib aarch64-apple-ios)" -headers "$out/Headers" \
    -library "$out/sim/librejoin.a" -headers "$out/Headers" \
    -library "$out/mac/librejoin.a" -headers "$out/Headers" \
    -output "$out/RejoinFFI.xcframework"
(cd "$out" && ditto -c -k --keepParent RejoinFFI.xcframework RejoinFFI.xcframework.zip)
echo "checksum: $(swift package compute-checksum "$out/RejoinFFI.xcframework.zip")"

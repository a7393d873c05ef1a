#!/usr/bin/env bash
# Builds the host library and generates the bindings of one language from it.
#
#   scripts/bindings.sh kotlin|swift [OUT_DIR]
#
# The library is built as a cdylib only here (`cargo rustc --crate-type`): a `crate-type` in
# Cargo.toml would make every build and test of the Rust crate link a cdylib and a staticlib too.
# It is not stripped: the generator reads its symbols.
set -euo pipefail
cd "$(dirname "$0")/.."
language=${1:?kotlin or swift}
out=${2:-bindings/$language/target/generated}
target=${CARGO_TARGET_DIR:-target}

case "$(uname -s)" in
  Darwin) library=$target/debug/librejoin.dylib ;;
  *) library=$target/debug/librejoin.so ;;
esac
cargo rustc --quiet --lib --no-default-features --features ffi --crate-type cdylib

# Minutes to build, once; in the dev profile.
cargo build --quiet --no-default-features --features bindgen --bin uniffi-bindgen
rm -rf "$out"
mkdir -p "$out"
"$target/debug/uniffi-bindgen" generate --no-format --language "$language" --out-dir "$out" "$library"
echo "bindings: $language in $out, from $library"

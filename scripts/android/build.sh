#!/usr/bin/env bash
# Builds librejoin.so for Android on a machine without the NDK, and type-checks the 32-bit ABI.
#
#   scripts/android/build.sh [ABI]...      arm64-v8a x86_64 armeabi-v7a by default
#
# Results, in the cargo target folder:
#   android/libs/<abi>/librejoin.so        stripped: what an app ships
#   android/symbols/<abi>/librejoin.so     the same library with its symbols: crash reports, bindings
#
# Everything it links to is a list of names: a stub of each system library with exactly the symbols
# of symbols.txt. With `-z defs`, a link that succeeds proves that nothing else is needed.
set -euo pipefail
cd "$(dirname "$0")/../.."
here=$PWD/scripts/android
abis=("$@")
[ ${#abis[@]} -gt 0 ] || abis=(arm64-v8a x86_64 armeabi-v7a)
features=ffi,bundled-unwinder
level=24

if ! reason=$("$here/toolchain.sh" can); then
  # docs/android.md has the way with an NDK, which works everywhere.
  [ -z "${CI:-}" ] || { echo "android: cannot be built here ($reason), and CI is set" >&2; exit 1; }
  echo "SKIPPED: the Android library cannot be built here: $reason." >&2
  exit 0
fi
root=$("$here/toolchain.sh")
sysroot=$(rustc --print sysroot)
tools=$sysroot/lib/rustlib/$(rustc -vV | sed -n "s/^host: //p")/bin
export LLD=$tools/rust-lld DROPPED_EXPORTS='_?_Unwind_[A-Za-z_]+'
[ -x "$tools/rust-lld" ] || { echo "android: no $tools/rust-lld: rustup's toolchains have it" >&2; exit 1; }
target=$PWD/target
[ -z "${CARGO_TARGET_DIR:-}" ] || target=$(realpath -m "$CARGO_TARGET_DIR")
out=$target/android

# rustc of the toolchain, which builds the standard library from source: an unstable feature.
toolchain() {
  LD_LIBRARY_PATH=$root/usr/lib/x86_64-linux-gnu:$root/usr/lib RUSTC=$root/usr/bin/rustc \
    RUSTC_BOOTSTRAP=1 PATH=$root/usr/bin:$PATH "$@"
}

# Panics name their file: of a crate, not of this machine.
toolchain cargo fetch --quiet --locked --target x86_64-linux-android
paths=("--remap-path-prefix=$root/usr/lib/rustlib/src/rust/library=std")
for crates in "${CARGO_HOME:-$HOME/.cargo}"/registry/src/*; do paths+=("--remap-path-prefix=$crates="); done

stubs() { # FOLDER CLANG_TARGET
  mkdir -p "$1"
  echo | clang "--target=$2" -c -x c - -o "$1/empty.o"
  local library symbols
  for library in libc libm libdl liblog; do
    mapfile -t symbols < <(awk -v l="$library" '$2 == l { print "--defsym=" $1 "=0" }' "$here/symbols.txt")
    "$LLD" -flavor gnu -shared -soname $library.so -o "$1/$library.so" "$1/empty.o" ${symbols[@]+"${symbols[@]}"}
  done
  # The standard library asks for -lunwind; the crate `unwinding` is what it gets.
  printf '!<arch>\n' > "$1/libunwind.a"
}

build() { # ABI RUST_TARGET CLANG_TARGET [CFLAG]...
  local abi=$1 rust=$2 clang=$3
  shift 3
  local name=${rust//-/_}
  # ring's C needs no libc headers if it is told so.
  export "CC_$name=clang" "AR_$name=ar" "CARGO_TARGET_${name^^}_LINKER=$here/android-cc.sh"
  export "CFLAGS_$name=--target=$clang -DRING_CORE_NOSTDLIBINC=1 -nostdlibinc -ffreestanding $*"
  export "CARGO_TARGET_${name^^}_RUSTFLAGS=${paths[*]}"
  local std=("-Zbuild-std=std,panic_unwind" "-Zbuild-std-features=panic-unwind,optimize_for_size" --target "$rust")
  if [ "$abi" = armeabi-v7a ]; then
    # Only checked: the crate `unwinding` does not know the unwind tables of 32-bit ARM.
    toolchain cargo check --quiet --lib --profile mobile --no-default-features --features ffi "${std[@]}"
    echo "android: $abi checked, not linked"
    return
  fi
  stubs "$out/stubs/$abi" "$clang"
  local link=(-L "native=$out/stubs/$abi" -C "link-arg=-Wl,-z,defs" -C "link-arg=-Wl,--icf=all" -C "link-arg=-Wl,--build-id=sha1")
  toolchain cargo rustc --quiet --lib --crate-type cdylib --profile mobile --no-default-features \
    --features "$features" "${std[@]}" -- "${link[@]}"
  mkdir -p "$out/symbols/$abi" "$out/libs/$abi"
  cp "$target/$rust/mobile/librejoin.so" "$out/symbols/$abi/"
  LD_LIBRARY_PATH=$sysroot/lib "$tools/rust-objcopy" --strip-all "$out/symbols/$abi/librejoin.so" "$out/libs/$abi/librejoin.so"
  "$here/check-library.sh" "$abi" "$out/libs/$abi/librejoin.so"
}

for abi in "${abis[@]}"; do
  case $abi in
    # Outlined atomics come from the runtime of clang, which is not linked.
    arm64-v8a) build "$abi" aarch64-linux-android "aarch64-linux-android$level" -mno-outline-atomics ;;
    x86_64) build "$abi" x86_64-linux-android "x86_64-linux-android$level" ;;
    armeabi-v7a) build "$abi" armv7-linux-androideabi "armv7a-linux-androideabi$level" ;;
    *) echo "android: no ABI is named $abi" >&2; exit 2 ;;
  esac
done

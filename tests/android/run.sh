#!/usr/bin/env bash
# Loads librejoin.so for Android on x86_64 into a desktop process and uses it, through UniFFI's
# Python bindings, against the flaky server.
#
#   tests/android/run.sh [TEST]...         python unittest names, all by default
#
# It is the very file that an app ships. What is under it is not Android: libc.c lends it glibc.
# So this shows that the code was built right (unwinding, TLS, threads, timers), not that a phone runs it.
set -euo pipefail
cd "$(dirname "$0")/../.."
target=${CARGO_TARGET_DIR:-target}
built=$target/android
work=$built/run
[ -e "$built/libs/x86_64/librejoin.so" ] || {
  # `make android` says why where it cannot be built.
  [ -z "${CI:-}" ] || { echo "android-run: no library, and CI is set" >&2; exit 1; }
  echo "SKIPPED: the Android library's run, for there is no library." >&2
  exit 0
}

cargo build --quiet --features cli --bin rejoin
cargo build --quiet --no-default-features --features bindgen --bin uniffi-bindgen
rm -rf "$work"
mkdir -p "$work/system"
"$target/debug/uniffi-bindgen" generate --no-format --language python --out-dir "$work" \
  "$built/symbols/x86_64/librejoin.so"
cp "$built/libs/x86_64/librejoin.so" "$work/"
gcc -O1 -Wall -Werror -shared -fPIC -Wl,-soname,libc.so -o "$work/system/libc.so" tests/android/libc.c \
  -Wl,--no-as-needed -lm -ldl
for name in libm libdl liblog; do
  gcc -shared -fPIC -Wl,-soname,$name.so -o "$work/system/$name.so" -x c /dev/null
done

REJOIN_WORK=$work REJOIN_BIN=$target/debug/rejoin PYTHONPATH=$work:tests/android PYTHONDONTWRITEBYTECODE=1 \
  exec python3 -m unittest --verbose "${@:-test_library}"

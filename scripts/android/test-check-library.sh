#!/usr/bin/env bash
# Shows that check-library.sh can fail: a small library that it accepts, then the same one with one
# thing wrong at a time, and a whole library of the build machine.
set -euo pipefail
cd "$(dirname "$0")"
lld=$(rustc --print sysroot)/lib/rustlib/$(rustc -vV | sed -n 's/^host: //p')/bin/rust-lld
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
checker=$OLDPWD/check-library.sh
mkdir rules
printf '%s\n' 'malloc libc 21' 'getrandom libc 28 weak' 'syncfs libc 28' > rules/symbols.txt
printf '%s\n' 'x86_64 20000' > rules/size-budget.txt
failures=0

compile() { clang --target=x86_64-linux-android24 -O1 -fPIC -ffreestanding "$@"; }
stub() { # NAME SYMBOL...
  local name=$1
  shift
  "$lld" -flavor gnu -shared -soname "$name" -o "$name" empty.o "${@/#/--defsym=}"
}
echo | compile -c -x c - -o empty.o
stub libc.so malloc=0 getrandom=0 syncfs=0 mystery=0
stub libforeign.so malloc=0

library() { # OUT C_CODE [LLD_ARGUMENT]...
  local out=$1 code=$2
  shift 2
  local contract='__attribute__((visibility("default"))) int ffi_rejoin_uniffi_contract_version(void) { return 30; }'
  printf '%s\n' "#define OURS __attribute__((visibility(\"default\")))" "$contract" "$code" |
    compile -fvisibility=hidden -c -x c - -o "$out.o"
  "$lld" -flavor gnu -shared -z max-page-size=16384 --strip-all -o "$out" "$out.o" libc.so "$@"
}
expect() { # ABI LIBRARY WORDS: those that the check must say are wrong; none for a good one.
  local said code=0
  said=$(REJOIN_ANDROID_RULES=$work/rules "$checker" "$1" "$2" 2>&1) || code=$?
  local wrong
  wrong=$(grep -c '^WRONG' <<< "$said" || true)
  if [ -z "$3" ] && [ "$code$wrong" = 00 ]; then echo "ok    accepted: $2"
  elif [ -n "$3" ] && [ "$code" = 1 ] && [ "$wrong" = 1 ] && grep -q "^WRONG.*$3" <<< "$said"; then
    echo "ok    refused: $2: $3"
  else
    echo "WRONG $2 should be ${3:-accepted}; exit $code:"
    echo "$said"
    failures=$((failures + 1))
  fi
}

use='void *malloc(unsigned long); OURS void *uniffi_rejoin_use(void) { return malloc(1); }'
library good.so "$use"
expect x86_64 good.so ''
library weak.so "$use __attribute__((weak)) long getrandom(void); OURS long uniffi_rejoin_r(void) { return getrandom ? getrandom() : 0; }"
expect x86_64 weak.so ''
library strong.so "$use long getrandom(void); OURS long uniffi_rejoin_r(void) { return getrandom(); }"
expect x86_64 strong.so 'getrandom is not weak'
library newer.so "$use int syncfs(int); OURS int uniffi_rejoin_s(void) { return syncfs(1); }"
expect x86_64 newer.so 'syncfs is of API level 28'
library mystery.so "$use int mystery(void); OURS int uniffi_rejoin_m(void) { return mystery(); }"
expect x86_64 mystery.so 'mystery is not in symbols.txt'
library foreign.so "$use" libforeign.so
expect x86_64 foreign.so 'libforeign.so'
library export.so "$use OURS void _Unwind_Resume(void) {}"
expect x86_64 export.so '_Unwind_Resume'
library small-pages.so "$use" -z max-page-size=4096
expect x86_64 small-pages.so 'aligned to 16 KB: 0x1000'
library large.so "$use OURS const char uniffi_rejoin_big[20000] = {1};"
expect x86_64 large.so 'too many'
library relr.so "$use static int one; OURS int *uniffi_rejoin_table[] = {&one, &one};" --pack-dyn-relocs=relr
expect x86_64 relr.so 'RELR'
"$lld" -flavor gnu -shared -z max-page-size=16384 -o symbols.so good.so.o libc.so
expect x86_64 symbols.so 'stripped: .symtab'
printf '%s\n' 'arm64-v8a 20000' >> rules/size-budget.txt
expect arm64-v8a good.so 'it is Advanced Micro Devices X86-64'

# All at once: a library of glibc's world.
printf 'void *malloc(unsigned long); void *f(void) { return malloc(1); }' |
  gcc -shared -fPIC -Wl,-z,max-page-size=4096 -x c - -o host.so
if REJOIN_ANDROID_RULES=$work/rules "$checker" x86_64 host.so > host.txt 2>&1; then
  echo "WRONG a library of the build machine is accepted"
  failures=$((failures + 1))
else
  echo "ok    refused: a library of the build machine, for $(grep -c '^WRONG' host.txt) reasons"
fi
[ "$failures" = 0 ] || { echo "$failures wrong: the check of the library is no check" >&2; exit 1; }

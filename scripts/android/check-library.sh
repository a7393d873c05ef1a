#!/usr/bin/env bash
# Says of a librejoin.so whether a phone with API level 24 could load it, and whether it has grown.
#
#   scripts/android/check-library.sh ABI LIBRARY
#
# A phone needs: the right machine, segments aligned to 16 KB, no library but the system's, no symbol
# newer than the level unless it is weak, no relocation that the level's linker does not know.
# Budgets are in size-budget.txt, symbols in symbols.txt (REJOIN_ANDROID_RULES names another folder).
set -euo pipefail
abi=${1:?ABI}
library=${2:?LIBRARY}
rules=${REJOIN_ANDROID_RULES:-$(dirname "$0")}
export LC_ALL=C
level=24

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0
# NAME WHAT_IS_WRONG: right where nothing is.
rule() {
  if [ -z "$2" ]; then echo "ok    $abi: $1"; else
    echo "WRONG $abi: $1: $(tr '\n' ' ' <<< "$2")"
    failures=$((failures + 1))
  fi
}

readelf -hW "$library" > "$work/head"
readelf -lW "$library" > "$work/segments"
readelf -dW "$library" > "$work/dynamic"
readelf -SW "$library" > "$work/sections"
# name binding, of what it takes from others and of what it gives.
readelf --dyn-syms -W "$library" | awk '$7 == "UND" && $8 != "" { sub(/@.*/, "", $8); print $8, $5 }' | sort > "$work/undefined"
readelf --dyn-syms -W "$library" | awk '$7 ~ /^[0-9]+$/ && ($5 == "GLOBAL" || $5 == "WEAK") { print $8 }' | sort > "$work/exported"

case $abi in
  arm64-v8a) machine=AArch64 ;;
  x86_64) machine='Advanced Micro Devices X86-64' ;;
  *) echo "check-library: no ABI is named $abi" >&2; exit 2 ;;
esac
found=$(sed -n 's/^ *Machine: *//p' "$work/head")
rule "machine $machine" "$([ "$found" = "$machine" ] || echo "it is $found")"

size=$(stat -c %s "$library")
budget=$(awk -v abi="$abi" '$1 == abi { print $2 }' "$rules/size-budget.txt")
rule "$size bytes, budget $budget" "$([ "$size" -le "$budget" ] || echo "$((size - budget)) too many")"
rule "stripped" "$(grep -oE '\.(symtab|debug_[a-z]+)' "$work/sections" | head -3)"

small=$(awk '$1 == "LOAD" { print $NF }' "$work/segments" | while read -r a; do [ $((a)) -ge 16384 ] || echo "$a"; done)
rule "segments aligned to 16 KB" "$small"
rule "no text relocations" "$(grep -oE 'TEXTREL' "$work/dynamic")"
rule "no relative relocations packed as RELR, new in API level 28" "$(grep -oE '\(RELR\)' "$work/dynamic")"
rule "stack not executable" "$(awk '$1 == "GNU_STACK" && / RWE / { print "it is" }' "$work/segments")"

sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' "$work/dynamic" > "$work/needed"
rule "needs $(tr '\n' ' ' < "$work/needed")" "$(grep -vxE 'lib(c|m|dl|log)\.so' "$work/needed")"
rule "needs libc.so" "$(grep -qx libc.so "$work/needed" || echo "it does not: nothing would be found")"

unknown=$(awk -v level=$level '
  FNR == NR { if ($1 !~ /^#/ && NF) { since[$1] = $3; weak[$1] = $4 }; next }
  !($1 in since) { print $1 " is not in symbols.txt"; next }
  weak[$1] == "weak" { if ($2 != "WEAK") print $1 " is not weak"; next }
  since[$1] > level { print $1 " is of API level " since[$1] }
' "$rules/symbols.txt" "$work/undefined")
rule "$(wc -l < "$work/undefined") undefined symbols, each in API level $level or weak" "$unknown"

ours='(uniffi|ffi)_rejoin_[a-z0-9_]+|UNIFFI_META_[A-Z0-9_]+'
rule "$(wc -l < "$work/exported") exported symbols, all of the bindings" "$(grep -vxE "$ours" "$work/exported" | head -5)"
rule "exports the bindings" "$(grep -qx ffi_rejoin_uniffi_contract_version "$work/exported" || echo "no contract version")"

if [ -n "${VERBOSE:-}" ]; then
  paste -sd' ' <(cut -d' ' -f1 "$work/undefined") | fold -sw 110 | sed 's/^/undefined: /'
  paste -sd' ' "$work/exported" | fold -sw 110 | sed 's/^/exported: /'
fi
[ "$failures" = 0 ] || { echo "$failures wrong in $library" >&2; exit 1; }

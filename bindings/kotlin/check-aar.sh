#!/usr/bin/env bash
# Opens the AAR that aar.sh made and verifies every entry, the alignment, the rules and the POM.
#
#   bindings/kotlin/check-aar.sh [AAR]
set -euo pipefail
cd "$(dirname "$0")"
aar=${1:-$(ls -t target/m2/dev/rejoin/rejoin-android/*/*.aar 2> /dev/null | head -1)}
if [ -z "$aar" ]; then
  [ -z "${CI:-}" ] || { echo "check-aar: no AAR, and CI is set" >&2; exit 1; }
  echo "SKIPPED: the AAR's check, for there is no AAR." >&2
  exit 0
fi
base=${aar%.aar}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0
ok() { # NAME COMMAND...
  local name=$1
  shift
  if "$@" > /dev/null 2>&1; then echo "ok    $name"; else echo "WRONG $name"; failures=$((failures + 1)); fi
}
has() { grep -qE -- "$1" "$2"; }
lacks() { ! grep -qE -- "$1" "$2"; }

unzip -q "$aar" -d "$work/aar"
unzip -q "$work/aar/classes.jar" -d "$work/classes"
ls -A "$work/aar" | sort > "$work/entries"
for entry in AndroidManifest.xml classes.jar R.txt proguard.txt jni; do ok "entry $entry" has "^$entry\$" "$work/entries"; done
ok "only the entries of an AAR" test -z "$(grep -vxE 'AndroidManifest.xml|classes.jar|R.txt|proguard.txt|jni' "$work/entries")"
ok "manifest: package" has 'package="dev.rejoin"' "$work/aar/AndroidManifest.xml"
ok "manifest: API level 24" has 'minSdkVersion="24"' "$work/aar/AndroidManifest.xml"
ok "manifest: INTERNET" has 'android.permission.INTERNET' "$work/aar/AndroidManifest.xml"
ok "rules: JNA" has '^-keep class com\.sun\.jna\.\*\*' "$work/aar/proguard.txt"
ok "rules: annotations" has '^-keepattributes RuntimeVisibleAnnotations' "$work/aar/proguard.txt"
ok "rules: bindings" has '^-keep class dev\.rejoin\.\*\*' "$work/aar/proguard.txt"
ok "rules: java.awt" has '^-dontwarn java\.awt\.\*\*' "$work/aar/proguard.txt"

(cd "$work/classes" && find . -name '*.class' | sort) > "$work/names"
for class in Rejoin RejoinClient Turn NativeTurn TurnEvent EventKind Transcript; do ok "class $class" has "^\./dev/rejoin/$class\.class\$" "$work/names"; done
ok "classes: nothing but dev.rejoin" test -z "$(grep -v '^\./dev/rejoin/' "$work/names")"
ok "classes: no META-INF/versions" test ! -e "$work/classes/META-INF/versions"
ok "classes: Kotlin module" test -n "$(find "$work/classes/META-INF" -name '*.kotlin_module')"
newer=$(cd "$work/classes" && while read -r file; do
  [ "$(od -An -j6 -N2 -tu1 "$file" | awk '{print $1 * 256 + $2}')" -le 52 ] || echo "$file"
done < "$work/names")
ok "classes: Java 8 bytecode ($(wc -l < "$work/names") classes)" test -z "$newer"

# Every native function that the Kotlin side names.
unzip -p "$base-sources.jar" dev/rejoin/rejoin.kt | grep -oE '\b(uniffi|ffi)_rejoin_[a-z0-9_]+' | sort -u > "$work/called"
ok "bindings: call native functions" test "$(wc -l < "$work/called")" -gt 50
for library in "$work"/aar/jni/*/librejoin.so; do
  abi=$(basename "$(dirname "$library")")
  ok "$abi: an ELF shared object" has 'Type:.*DYN' <(readelf -hW "$library")
  machine=$(readelf -hW "$library" | sed -n 's/.*Machine: *//p')
  case "$abi" in
    arm64-v8a) ok "$abi: machine ($machine)" test "$machine" = AArch64 ;;
    armeabi-v7a) ok "$abi: machine ($machine)" test "$machine" = ARM ;;
    x86_64) ok "$abi: machine ($machine)" test "$machine" = "Advanced Micro Devices X86-64" ;;
    *) ok "$abi: a known ABI" false ;;
  esac
  small=$(readelf -lW "$library" | awk '$1 == "LOAD" {print $NF}' | while read -r align; do [ $((align)) -ge 16384 ] || echo "$align"; done)
  ok "$abi: segments aligned to 16 KB" test -z "$small"
  readelf --dyn-syms -W "$library" | awk '$7 != "UND" { print $8 }' | sort -u > "$work/exported"
  ok "$abi: has every function that the bindings call" test -z "$(comm -23 "$work/called" "$work/exported")"
  ok "$abi: stripped" test -z "$(readelf -SW "$library" | grep -w '\.symtab')"
done
for abi in arm64-v8a x86_64; do ok "abi $abi" test -e "$work/aar/jni/$abi/librejoin.so"; done
ok "nothing beside the libraries" test -z "$(cd "$work/aar/jni" && find . -type f ! -name librejoin.so)"

pom=$base.pom
tr -d '\n' < "$pom" > "$work/pom"
ok "POM: coordinates" has '<groupId>dev.rejoin</groupId> *<artifactId>rejoin-android</artifactId> *<version>[0-9]' "$work/pom"
ok "POM: packaging aar" has '<packaging>aar</packaging>' "$work/pom"
ok "POM: JNA as aar, 5.18.1 or newer" has '<artifactId>jna</artifactId><version>5\.(18\.[1-9]|19|[2-9][0-9]).*</version><type>aar</type>' "$work/pom"
ok "POM: kotlin-stdlib" has '<artifactId>kotlin-stdlib</artifactId><version>[0-9]' "$work/pom"
ok "POM: coroutines" has '<artifactId>kotlinx-coroutines-core-jvm</artifactId><version>[0-9]' "$work/pom"
ok "POM: nothing left to fill in" lacks '@' "$pom"
unzip -l "$base-sources.jar" > "$work/sources"
ok "sources: hand-written and generated" test "$(grep -cE 'dev/rejoin/(Rejoin|rejoin)\.kt' "$work/sources")" = 2
unzip -l "$base-javadoc.jar" > "$work/docs"
ok "docs: front page and events" test "$(grep -cE ' index\.html| .*-event-kind/index\.html' "$work/docs")" -ge 2
for file in "$base".aar "$base"-sources.jar "$base"-javadoc.jar "$pom"; do
  ok "checksum of $(basename "$file")" test "$(sha256sum < "$file" | cut -d' ' -f1)" = "$(cat "$file.sha256")"
done
[ "$failures" = 0 ] || { echo "$failures wrong in $aar" >&2; exit 1; }
echo "all right: $aar"

#!/usr/bin/env bash
# Shrinks a small app and the AAR with R8 in full mode under the AAR's own rules, and runs what comes
# out on this machine's JVM against the flaky server. Then the same without the rules: it must not run.
#
#   bindings/kotlin/check-r8.sh
#
# The app is shrink/Probe.kt. R8 writes class files here, so that a JVM runs what it has shrunk; the
# dex that a phone gets comes from the same passes.
set -euo pipefail
cd "$(dirname "$0")"
root=../..
work=target/r8
native=target/native
if [ ! -e target/m2 ]; then
  [ -z "${CI:-}" ] || { echo "check-r8: no AAR, and CI is set" >&2; exit 1; }
  echo "SKIPPED: the check of the R8 rules, for there is no AAR." >&2
  exit 0
fi
mvn -B -ntp -q test-compile
$root/scripts/android/jars.sh $work
jar --create --file $work/probe.jar -C target/test-classes app
# JNA's own native part for this machine; on a phone it is in JNA's AAR.
mvn -B -ntp -q dependency:build-classpath -Dmdep.outputFile=$work/desktop
unzip -q -o -j "$(tr ':' '\n' < $work/desktop | grep '/jna-[^/]*\.jar$')" \
  "com/sun/jna/linux-$(uname -m | tr _ -)/libjnidispatch.so" -d $work/boot
java=$(dirname "$(dirname "$(readlink -f "$(command -v javac)")")")
mapfile -t libraries < $work/libraries
inputs=("$work/probe.jar" "$work/rejoin/classes.jar" "$work/jna/classes.jar" "${libraries[@]}")

cat > $work/app.pro <<'PRO'
-keep class app.probe.ProbeKt { public static void main(java.lang.String[]); }
# Of the desktop's JVM, not of an app: what a library mentions and this machine has not.
-dontwarn **
PRO
shrink() { # OUT RULES...
  local out=$1 rules=()
  shift
  for file in "$@"; do rules+=(--pg-conf "$file"); done
  java -Xmx1g -cp $work/r8.jar com.android.tools.r8.R8 --release --classfile --lib "$java" \
    "${rules[@]}" --output "$out" "${inputs[@]}" 2> "$out.log" ||
    { cat "$out.log" >&2; exit 1; }
}
classes() { unzip -l "$1" | grep -c '\.class$'; }

answer='{"send":["Rivers run to th"],"end":"reset"},{"send":["Rivers run to the sea.",{"finish":"STOP"}]}'
serve() { # NAME RESPONSES: leaves its address in `address`; ends with this script.
  printf '{"name":"%s","about":"","request":{"prompt":"x"},"server":[%s],"expect":{"end":"completed"}}' "$1" "$2" > "$work/$1.json"
  local line
  exec {output}< <(exec "$native/rejoin" serve-flaky --script "$work/$1.json")
  servers+=("$!")
  read -r line <&"$output"
  address=${line#listening on }
}
servers=()
trap 'kill "${servers[@]}" 2> /dev/null || true' EXIT
run() { # JAR SAID: on the shrunk jar alone, so that nothing that was removed is found elsewhere.
  serve answering "$answer,$answer"
  local answering=$address
  serve refusing '{"send":[{"error":401,"message":"No."}],"status":401}'
  java -cp "$1" -Djna.boot.library.path=$work/boot -Djna.nounpack=true -Djna.nosys=true \
    -Djna.library.path=$native app.probe.ProbeKt "$answering" "$address" > "$2" 2>&1
}

shrink $work/shrunk.jar $work/app.pro $work/rejoin/proguard.txt
run $work/shrunk.jar $work/said || { cat $work/said >&2; exit 1; }
cat $work/said
diff - $work/said <<'SAID'
events: [started, text, dropped, reset, completed]
transcript: Rivers run to the sea.
error: UNAUTHORIZED
key: 32
SAID
before=$(for jar in "${inputs[@]}"; do classes "$jar"; done | awk '{ sum += $1 } END { print sum }')
after=$(classes $work/shrunk.jar)
[ "$after" -lt "$before" ] || { echo "check-r8: nothing was removed" >&2; exit 1; }
echo "ok    R8 full mode: $after classes of $before left, and the app runs"

shrink $work/bare.jar $work/app.pro
if run $work/bare.jar $work/bare.said; then
  echo "check-r8: without the rules it runs as well: they prove nothing" >&2
  exit 1
fi
# Of its own: JNA does not find by name what was renamed. Not for want of a server.
grep -m1 -oE '[A-Za-z.]+LinkError.*' $work/bare.said > $work/why || { cat $work/bare.said >&2; exit 1; }
echo "ok    without the rules it does not run: $(cat $work/why)"

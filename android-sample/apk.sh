#!/usr/bin/env bash
# Makes the sample app's APKs without Gradle and the Android SDK: aapt2 for the resources, D8 or R8
# for the code, apksig for signing and page alignment. Then checks them.
#
#   android-sample/apk.sh [debug|release]...      both by default
#
# In target/apk: sample-debug.apk as compiled, sample-release.apk shrunk by R8 in full mode under the
# rules that the AAR brings. Both signed with a key made here, which is good for a test device only.
set -euo pipefail
cd "$(dirname "$0")"
root=..
tools=$root/scripts/android
out=target/apk
min=24
kinds=("$@")
[ ${#kinds[@]} -gt 0 ] || kinds=(debug release)

aars=("$root"/bindings/kotlin/target/m2/dev/rejoin/rejoin-android/*/*.aar)
if [ ! -e "${aars[0]}" ]; then
  [ -z "${CI:-}" ] || { echo "apk: no AAR, and CI is set" >&2; exit 1; }
  echo "SKIPPED: the APK, for there is no AAR." >&2
  exit 0
fi
. "$root/scripts/need.sh"
need aapt2:aapt apksigner:apksigner python3:python3 || {
  echo "apk: ${missing%%:*} is missing: install ${missing##*:}" >&2
  exit 1
}

rm -rf $out
mkdir -p $out target/rejoin
unzip -q -o "${aars[0]}" classes.jar -d target/rejoin
$tools/jars.sh $out/jars
mvn -B -ntp -q compile
jar --create --file $out/app.jar -C target/classes .
mapfile -t libraries < $out/jars/libraries
# The one library that the app has and the AAR has not: the main thread's dispatcher.
mvn -B -ntp -q dependency:build-classpath -Dmdep.outputFile="$PWD/$out/classpath" > /dev/null
libraries+=("$(tr ':' '\n' < $out/classpath | grep '/kotlinx-coroutines-android-[^/]*\.jar$')")
inputs=("$out/app.jar" "$out/jars/rejoin/classes.jar" "$out/jars/jna/classes.jar" "${libraries[@]}")
for abi in arm64-v8a x86_64; do
  mkdir -p "$out/lib/$abi"
  cp "$out/jars/rejoin/jni/$abi/librejoin.so" "$out/jars/jna/jni/$abi/libjnidispatch.so" "$out/lib/$abi/"
done

# The activities and views that the resources name.
aapt2 link -I $out/jars/android.jar --manifest target/android/AndroidManifest.xml --auto-add-overlay \
  --proguard $out/resources.pro -o $out/resources.ap_ target/android/resources.zip
# android.jar here has Android's packages; Java's are these of the JDK's, and no more: a phone has no AWT.
jimage extract --dir $out/jdk --include 'regex:/java\.(base|logging)/.*' \
  "$(dirname "$(dirname "$(readlink -f "$(command -v javac)")")")/lib/modules"
jar --create --file $out/jdk.jar -C $out/jdk/java.base . -C $out/jdk/java.logging .
compiler() {
  java -Xmx1500m -cp $out/jars/r8.jar "com.android.tools.r8.$1" --min-api $min \
    --lib "$(realpath $out/jars/android.jar)" --lib $out/jdk.jar "${@:2}"
}
key=target/debug.jks
[ -e $key ] || keytool -genkeypair -keystore $key -storepass android -keypass android -alias debug \
  -dname CN=debug -keyalg RSA -keysize 2048 -validity 10000 2> /dev/null

for kind in "${kinds[@]}"; do
  dex=$out/$kind
  mkdir -p "$dex"
  case $kind in
    debug) compiler D8 --debug --output "$dex" "${inputs[@]}" ;;
    release)
      compiler R8 --release --output "$dex" --pg-map-output $out/mapping.txt --pg-conf $out/resources.pro \
        --pg-conf $out/jars/rejoin/proguard.txt --pg-conf app/proguard-rules.pro "${inputs[@]}"
      ;;
    *) echo "apk: $kind is neither debug nor release" >&2; exit 2 ;;
  esac
  services=()
  # R8 resolves the services itself.
  [ "$kind" = release ] || services=("${libraries[@]}")
  python3 $tools/apk.py pack "$out/$kind.zip" $out/resources.ap_ "$dex" $out/lib ${services[@]+"${services[@]}"}
  # Not aligned yet: what follows must see that.
  if python3 $tools/apk.py check "$out/$kind.zip" arm64-v8a x86_64 > /dev/null 2>&1; then
    echo "apk: the check of the alignment is no check" >&2
    exit 1
  fi
  apk=$out/sample-$kind.apk
  java -cp $out/jars/apksig.jar $tools/Sign.java $key android "$out/$kind.zip" "$apk"

  echo "== $apk: $(stat -c %s "$apk") bytes"
  apksigner verify --verbose --min-sdk-version $min "$apk" | grep -E '^Verified using v[23] .*: true'
  python3 $tools/apk.py check "$apk" arm64-v8a x86_64
  aapt2 dump badging "$apk" > "$out/$kind.badging"
  for line in "package: name='dev.rejoin.sample'" "sdkVersion:'$min'" \
    "uses-permission: name='android.permission.INTERNET'" "launchable-activity: name='dev.rejoin.sample" \
    "native-code: 'arm64-v8a' 'x86_64'"; do
    grep -F -m1 "$line" "$out/$kind.badging" || { echo "WRONG $apk: no $line" >&2; exit 1; }
  done
done

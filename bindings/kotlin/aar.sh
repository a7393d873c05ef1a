#!/usr/bin/env bash
# Packs the Kotlin layer and the native libraries as an AAR, without Gradle, into a local Maven
# repository: bindings/kotlin/target/m2.
#
#   bindings/kotlin/aar.sh
#
# ANDROID_LIBS names a folder with <abi>/librejoin.so for each Android ABI. Without it the AAR
# holds the host's library only: its version ends in -host, it has an entry HOST-ONLY.txt, and it
# is no good on a phone.
set -euo pipefail
cd "$(dirname "$0")/../.."
scripts/kotlin.sh classes
here=bindings/kotlin
if [ ! -d $here/target/classes ]; then
  echo "SKIPPED: the AAR, because the Kotlin layer was." >&2
  exit 0
fi
property() { sed -n "s|.*<$1>\(.*\)</$1>.*|\1|p" $here/pom.xml | head -1; }
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -1)

work=$here/target/aar
rm -rf $work
mkdir -p $work/content/jni
if [ -n "${ANDROID_LIBS:-}" ]; then
  for library in "$ANDROID_LIBS"/*/librejoin.so; do
    abi=$(basename "$(dirname "$library")")
    mkdir -p "$work/content/jni/$abi"
    cp "$library" "$work/content/jni/$abi/"
  done
else
  version=$version-host
  abi=$(uname -m | sed 's/aarch64/arm64-v8a/')
  mkdir -p "$work/content/jni/$abi"
  strip --strip-unneeded -o "$work/content/jni/$abi/librejoin.so" $here/target/native/librejoin.so
  echo "The library in here is the build machine's. It does not load on a phone." > $work/content/HOST-ONLY.txt
  echo "AAR: host-only, version $version (no ANDROID_LIBS)"
fi

cp $here/aar/AndroidManifest.xml $here/aar/proguard.txt $work/content/
: > $work/content/R.txt
jar --create --no-manifest --file $work/content/classes.jar -C $here/target/classes .

folder=$here/target/m2/dev/rejoin/rejoin-android/$version
name=$folder/rejoin-android-$version
rm -rf "$folder"
mkdir -p "$folder"
jar --create --no-manifest --no-compress --file "$name.aar" -C $work/content .
jar --create --no-manifest --file "$name-sources.jar" -C $here/src/main/kotlin . -C $here/target/generated .
(cd $here && mvn -B -ntp -q dokka:dokka)
jar --create --no-manifest --file "$name-javadoc.jar" -C $here/target/dokka .
sed -e "s/@VERSION@/$version/" -e "s/@KOTLIN@/$(property kotlin.version)/" \
  -e "s/@COROUTINES@/$(property coroutines.version)/" -e "s/@JNA@/$(property jna.version)/" \
  $here/aar/pom.xml > "$name.pom"
for file in "$name".aar "$name"-*.jar "$name".pom; do
  sha1sum < "$file" | cut -d' ' -f1 > "$file.sha1"
  sha256sum < "$file" | cut -d' ' -f1 > "$file.sha256"
done
echo "AAR: $name.aar ($(stat -c %s "$name.aar") bytes)"

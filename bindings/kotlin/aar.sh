#!/usr/bin/env bash
# Packs the Kotlin layer and the native libraries as an AAR, without Gradle, into a local Maven
# repository: bindings/kotlin/target/m2.
#
#   bindings/kotlin/aar.sh
#
# ANDROID_LIBS names the folder with <abi>/librejoin.so for each ABI; by default it is the one that
# `make android` fills. `cargo ndk -o` fills such a folder too.
set -euo pipefail
cd "$(dirname "$0")/../.."
here=bindings/kotlin
libs=${ANDROID_LIBS:-${CARGO_TARGET_DIR:-target}/android/libs}
if [ ! -e "$libs/arm64-v8a/librejoin.so" ]; then
  [ -z "${CI:-}" ] || { echo "aar: no library in $libs, and CI is set" >&2; exit 1; }
  echo "SKIPPED: the AAR, for there is no Android library in $libs." >&2
  exit 0
fi
# Classes whose sources are gone would stay.
rm -rf $here/target/classes $here/target/dokka
scripts/kotlin.sh classes
if [ ! -d $here/target/classes ]; then
  echo "SKIPPED: the AAR, because the Kotlin layer was." >&2
  exit 0
fi
property() { sed -n "s|.*<$1>\(.*\)</$1>.*|\1|p" $here/pom.xml | head -1; }
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -1)

work=$here/target/aar
rm -rf $work
mkdir -p $work/content/jni
for library in "$libs"/*/librejoin.so; do
  abi=$(basename "$(dirname "$library")")
  mkdir -p "$work/content/jni/$abi"
  cp "$library" "$work/content/jni/$abi/"
done

cp $here/aar/AndroidManifest.xml $here/aar/proguard.txt $work/content/
: > $work/content/R.txt
jar --create --no-manifest --file $work/content/classes.jar -C $here/target/classes .

# All of it anew: what an older version left is stale.
folder=$here/target/m2/dev/rejoin/rejoin-android/$version
name=$folder/rejoin-android-$version
rm -rf $here/target/m2
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
echo "AAR: $name.aar ($(stat -c %s "$name.aar") bytes: $(cd $work/content/jni && echo *))"

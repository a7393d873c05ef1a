#!/usr/bin/env bash
# Compiles the sample app and runs its screens on a desktop JVM, with the real host library.
#
#   android-sample/test.sh [MAVEN ARGUMENTS]
#
# Needs a JDK 17, Maven and aapt2: on a Debian machine they are installed, elsewhere this is skipped
# loudly; with CI set it fails instead. Screenshots: android-sample/target/shots.
set -euo pipefail
cd "$(dirname "$0")/.."
here=android-sample
kotlin=bindings/kotlin

. scripts/need.sh
need_or_skip sample "the Android sample" javac:default-jdk-headless mvn:maven aapt2:aapt

newest_aar() {
  [ -d $kotlin/target/m2 ] || return 0
  find $kotlin/target/m2 -name 'rejoin-android-*.aar' -printf '%T@ %p\n' 2> /dev/null | sort -rn | head -1 | cut -d' ' -f2-
}

# The AAR of `make aar`, unless what it is made of has changed since; the tests load the host
# library, which the Kotlin layer leaves beside it.
aar=$(newest_aar)
if [ -z "$aar" ] || [ ! -x $kotlin/target/native/rejoin ] ||
  [ -n "$(find src Cargo.toml Cargo.lock uniffi.toml $kotlin/src/main -newer "$aar" -type f -print -quit)" ]; then
  $kotlin/aar.sh
  aar=$(newest_aar)
fi
if [ -z "$aar" ]; then
  [ -z "${CI:-}" ] || { echo "sample: no AAR, and CI is set" >&2; exit 1; }
  echo "SKIPPED: the Android sample, for there is no AAR." >&2
  exit 0
fi
mkdir -p $here/target/rejoin
(cd $here/target/rejoin && jar --extract --file "$OLDPWD/$aar" classes.jar)
echo "sample: Rejoin from $aar"

cd $here
mvn -B -ntp test "$@"
if [ -d target/shots ]; then echo "sample: $(find target/shots -name '*.png' | wc -l) screenshots in $here/target/shots"; fi

# The picture of the documentation, from these very screenshots: PICTURE=1 makes it anew.
if [ -n "${PICTURE:-}" ]; then
  mvn -B -ntp -q dependency:build-classpath -Dmdep.outputFile=target/classpath -Dmdep.includeScope=test
  cd target/shots
  java -cp "../test-classes:$(cat ../classpath)" dev.rejoin.sample.support.SheetKt ../../../docs/android-sample.png 260 \
    continue-1-streaming.png continue-2-struck.png busy.png refund-2-paid.png workshop.png dark-struck.png
fi

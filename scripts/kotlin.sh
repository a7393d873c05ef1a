#!/usr/bin/env bash
# Builds the Kotlin layer on a desktop JVM and tests it against the real library.
#
#   scripts/kotlin.sh [test|bench|classes]     test by default
#
# Needs a JDK 17 and Maven: on a Debian machine they are installed, elsewhere this is skipped
# loudly; with CI set it fails instead. Reports: bindings/kotlin/target/surefire-reports.
set -euo pipefail
cd "$(dirname "$0")/.."
what=${1:-test}
target=${CARGO_TARGET_DIR:-target}

. scripts/need.sh
need_or_skip kotlin "the Kotlin layer" javac:default-jdk-headless mvn:maven

scripts/bindings.sh kotlin
cargo build --quiet --features cli --bin rejoin
native=bindings/kotlin/target/native
mkdir -p "$native"
cp "$target"/debug/librejoin.* "$target/debug/rejoin" "$native/"
rm -f "$native"/*.d "$native"/*.rlib

# Without the daemon: it would stay alive with 830 MB.
cd bindings/kotlin
case "$what" in
  test) mvn -B -ntp test ;;
  classes) mvn -B -ntp compile ;;
  bench)
    mvn -B -ntp -q test-compile dependency:build-classpath -Dmdep.outputFile=target/classpath -Dmdep.includeScope=test
    java -Djna.library.path=target/native -cp "target/test-classes:target/classes:$(cat target/classpath)" dev.rejoin.bench.FfiCostKt
    ;;
  *) echo "kotlin.sh: $what is neither test, classes nor bench" >&2; exit 2 ;;
esac

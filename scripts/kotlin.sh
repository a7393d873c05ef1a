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

for tool in javac:default-jdk-headless mvn:maven; do
  command -v "${tool%%:*}" > /dev/null && continue
  if command -v apt-get > /dev/null && [ "$(id -u)" = 0 ]; then
    apt-get install -y --no-install-recommends "${tool##*:}" > /dev/null
  elif [ -n "${CI:-}" ]; then
    echo "kotlin: ${tool%%:*} is missing, and CI is set" >&2
    exit 1
  else
    echo "SKIPPED: the Kotlin layer. Install ${tool##*:} (${tool%%:*} is not here)." >&2
    exit 0
  fi
done

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

#!/usr/bin/env bash
# Lays out what an Android build takes as input, as it follows from the AAR and its POM.
#
#   scripts/android/jars.sh FOLDER
#
# FOLDER/rejoin and FOLDER/jna: the two AARs, unpacked. FOLDER/libraries: the other jars, one path a
# line. FOLDER/r8, FOLDER/apksig, FOLDER/android: links to the tools of tools.xml.
set -euo pipefail
out=$(realpath -m "$1")
cd "$(dirname "$0")/../.."
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -1)
aar=bindings/kotlin/target/m2/dev/rejoin/rejoin-android/$version/rejoin-android-$version
[ -e "$aar.aar" ] || { echo "jars: no $aar.aar: make aar" >&2; exit 1; }
rm -rf "$out"
mkdir -p "$out/resolve"

paths() { # POM: the files of its dependencies, one a line.
  mvn -B -ntp -q -f "$1" dependency:build-classpath -Dmdep.outputFile="$out/resolve/paths" > "$out/resolve/log" ||
    { cat "$out/resolve/log" >&2; exit 1; }
  tr ':' '\n' < "$out/resolve/paths"
}

# Maven itself does not know what an AAR is; for where its dependencies are, it need not.
sed 's|<packaging>aar</packaging>|<packaging>pom</packaging>|' "$aar.pom" > "$out/resolve/pom.xml"
paths "$out/resolve/pom.xml" > "$out/resolve/all"
unzip -q "$aar.aar" -d "$out/rejoin"
unzip -q "$(grep '/jna-[^/]*\.aar$' "$out/resolve/all")" -d "$out/jna"
grep '\.jar$' "$out/resolve/all" > "$out/libraries"

paths scripts/android/tools.xml > "$out/resolve/tools"
for tool in r8 apksig android-all; do
  ln -s "$(grep "/$tool-[^/]*\.jar\$" "$out/resolve/tools")" "$out/${tool%-all}.jar"
done

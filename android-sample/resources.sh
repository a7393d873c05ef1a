#!/usr/bin/env bash
# What the Android Gradle plugin does with resources, by aapt2 alone: compiles and links them.
#
#   resources.sh APP_MAIN_DIR FRAMEWORK OUT_DIR
#
# Leaves AndroidManifest.xml (with package, versions and SDK levels put in), resources.ap_, R.txt
# and gen/**/R.java in OUT_DIR.
set -euo pipefail
main=$1
framework=$2
out=$3
package=dev.rejoin.sample
min=24
target=34

rm -rf "$out"
mkdir -p "$out/gen"
sed -e "s|<manifest |<manifest package=\"$package\" android:versionCode=\"1\" android:versionName=\"0.1.0\" |" \
  -e "s|<application|<uses-sdk android:minSdkVersion=\"$min\" android:targetSdkVersion=\"$target\" />\n    <application|" \
  "$main/AndroidManifest.xml" > "$out/AndroidManifest.xml"
aapt2 compile --dir "$main/res" -o "$out/resources.zip"
aapt2 link -I "$framework" --manifest "$out/AndroidManifest.xml" --java "$out/gen" \
  --output-text-symbols "$out/R.txt" --auto-add-overlay -o "$out/resources.ap_" "$out/resources.zip"

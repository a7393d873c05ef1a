#!/usr/bin/env bash
# The sample in the Android emulator, on EDGE, with the network cut in mid-answer, recorded.
#
#   android-sample/demo-emulator.sh APK [AVD]
#
# Needs the Android SDK's emulator and adb, an AVD of API 24 or newer, and `cargo build` of this
# repository. IT HAS NEVER BEEN RUN: the machine on which the sample was written has no emulator.
# What it shows was run instead on a JVM (test.sh) and over cut network namespaces (netns.sh).
#
# Leaves target/demo.mp4.
set -euo pipefail
cd "$(dirname "$0")"
apk=${1:?the sample as an APK}
avd=${2:-$(emulator -list-avds | head -1)}
activity=dev.rejoin.sample/.MainActivity

for tool in emulator adb cargo; do
  command -v $tool > /dev/null || { echo "demo: $tool is not on the PATH" >&2; exit 1; }
done

pids=()
clean_up() {
  for pid in "${pids[@]}"; do kill "$pid" 2> /dev/null || true; done
}
trap clean_up EXIT
cargo build --quiet --manifest-path ../Cargo.toml
cargo run --quiet --manifest-path ../Cargo.toml -- serve-flaky --listen 127.0.0.1:8080 \
  --stories stories --stories ../src/bin/rejoin/demo &
pids+=("$!")
# Speed and delay are the emulator's here, so the server's own network is `full`.
emulator -avd "$avd" -netspeed edge -netdelay edge -no-snapshot -no-boot-anim &
pids+=("$!")
adb wait-for-device
until [ "$(adb shell getprop sys.boot_completed | tr -d '\r')" = 1 ]; do sleep 1; done
adb install -r "$apk"

# Waits until this can be read on the screen: the moments are set by what is shown.
shown() {
  until adb exec-out uiautomator dump /dev/tty 2> /dev/null | grep -qF "$1"; do sleep 0.3; done
}
start() {
  adb shell am force-stop dev.rejoin.sample
  adb shell am start -n $activity --es story "$1" --es network full --ez autostart true
}

mkdir -p target
adb shell screenrecord --time-limit 120 /sdcard/demo.mp4 &
recorder=$!

start slow-tunnel
shown "every wrong turn"
adb shell svc wifi disable
adb shell svc data disable
shown "No network"
adb shell svc data enable
adb shell svc wifi enable
shown "Done, whole after"

start refund-twice
shown "1 refund paid"

# The same by the emulator's console: the radio stays on and carries nothing, then crawls.
start slow-tunnel
shown "every wrong turn"
adb emu gsm data off
adb emu network speed gsm
shown "connection"
adb emu gsm data on
shown "Done, whole after"

adb shell pkill -INT screenrecord
wait "$recorder" || true
adb pull /sdcard/demo.mp4 target/demo.mp4
echo "demo: android-sample/target/demo.mp4"

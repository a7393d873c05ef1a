#!/usr/bin/env bash
# The sample's story over a network that is really slow, and a connection that is really cut: the app's code on a JVM
# in one network namespace, the flaky server in another, a cable between them.
#
#   android-sample/netns.sh [RATE]        473kbit by default: EDGE, as the Android emulator has it
#
# The cable's rate is limited by tbf, and its delay is netem's where the kernel has that. When the app
# has shown all that the server says before it falls silent, the server's kernel kills the
# connection, with an RST over the cable. The app has to come out with the whole answer.
#
# Needs root, iproute2 and a kernel with network namespaces; elsewhere it says what is missing and
# is skipped. Takes about half a minute. Run test.sh first: it uses what that has built.
set -euo pipefail
cd "$(dirname "$0")"
rate=${1:-473kbit}

skip() {
  echo "SKIPPED: the sample over network namespaces. $1" >&2
  exit 0
}
[ "$(id -u)" = 0 ] || skip "It needs root."
for tool in ip tc ss java; do
  command -v $tool > /dev/null || skip "$tool is not here (iproute2, a JDK)."
done
bin=../bindings/kotlin/target/native/rejoin
if [ ! -x $bin ] || [ ! -d target/test-classes ]; then skip "Run android-sample/test.sh first."; fi

phone=rejoin-phone-$$
tower=rejoin-tower-$$
work=$(mktemp -d)
pids=()
clean_up() {
  for pid in "${pids[@]}"; do kill "$pid" 2> /dev/null || true; done
  ip netns del $phone 2> /dev/null || true
  ip netns del $tower 2> /dev/null || true
  rm -rf "$work"
}
trap clean_up EXIT

ip netns add $phone 2> /dev/null || skip "The kernel has no network namespaces for us."
ip netns add $tower
ip link add rp$$ netns $phone type veth peer name rt$$ netns $tower
ip -n $phone addr add 10.99.0.2/24 dev rp$$
ip -n $tower addr add 10.99.0.1/24 dev rt$$
for end in "$phone rp$$" "$tower rt$$"; do
  read -r namespace device <<< "$end"
  ip -n "$namespace" link set lo up
  ip -n "$namespace" link set "$device" up
done
# Down-link: what the tower sends.
tc -n $tower qdisc add dev rt$$ root handle 1: tbf rate "$rate" burst 4kb latency 800ms ||
  skip "The kernel cannot limit a rate (sch_tbf)."
tc -n $tower qdisc add dev rt$$ parent 1:1 netem delay 150ms 70ms 2> /dev/null || echo "netns: no netem here, so the rate alone"
echo "netns: $rate down-link"

# What the reader has to be left with.
whole=$(sed -n 's/^ *"text": "\(.*\)"$/\1/p' stories/slow-tunnel.json)
mkfifo "$work/say"
ip netns exec $tower $bin serve-flaky --script stories/slow-tunnel.json --listen 10.99.0.1:8080 > "$work/server" &
pids+=("$!")
until grep -q listening "$work/server"; do
  kill -0 "${pids[0]}" || { echo "netns: the server did not start" >&2; exit 1; }
  sleep 0.05
done

[ -f target/classpath ] ||
  mvn -B -ntp -q dependency:build-classpath -Dmdep.outputFile=target/classpath -Dmdep.includeScope=test
# No pipe to the app: it would hide how the app ended.
timeout 120 ip netns exec $phone java -Djna.library.path=../bindings/kotlin/target/native \
  -cp "target/test-classes:target/classes:$(cat target/classpath)" \
  dev.rejoin.sample.support.HeadlessKt http://10.99.0.1:8080 "$whole" > "$work/say" &
app=$!
pids+=("$app")

cut=no
while read -r line; do
  echo "  $line"
  case $line in
    "text "*)
      # Enough to continue from: cut on what the app has, not on the clock.
      if [ $cut = no ] && [ "${line#text }" -ge 915 ]; then
        cut=yes
        # The server's kernel forgets the connection and says so: an RST over the cable.
        ip netns exec $tower ss -K -t state established '( sport = :8080 )' > "$work/killed" 2>&1
        grep -q ':8080\|http-alt' "$work/killed" || { echo "netns: nothing was cut" >&2; exit 1; }
        echo "  -- cut --"
      fi
      ;;
  esac
done < "$work/say"
wait "$app" || { echo "netns: the app did not come out whole" >&2; exit 1; }
[ $cut = yes ] || { echo "netns: the answer was over before the cut" >&2; exit 1; }
echo "netns: whole, although cut"

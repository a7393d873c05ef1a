#!/usr/bin/env bash
# Every check and every test, stage by stage, with a closing table of times.
# Each stage is a make target, so that one can be run alone.
set -uo pipefail
cd "$(dirname "$0")/.."

stages=(setup check rust-test kotlin android android-run aar r8 sample apk swift)
table=""
failed=0
for stage in "${stages[@]}"; do
    echo "== $stage"
    began=$SECONDS
    if make --no-print-directory "$stage"; then result=ok; else result=FAILED failed=1; fi
    table+=$(printf '%-12s %-8s %4d s' "$stage" "$result" $((SECONDS - began)))$'\n'
    [ "$stage" = setup ] && [ "$result" = FAILED ] && break
done
printf '\n%s' "$table"
exit $failed

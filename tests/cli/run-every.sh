# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Periodic snapshots and the timeline.
start churn heapstory run --every 200ms -o out -- "$PROGRAMS/churn" 200
wait_mark churn 1 || finish
sleep 1.3
go churn
finish_program churn || fail "churn ended with $?: $(tail -n 3 churn.err)"
[[ -e out/0001.hs && -e out/0003.hs ]] || fail "snapshots: $(ls out)"
for f in out/*.hs; do
	heapstory check "$f" >/dev/null || fail "$f is not whole"
done
[ -s out/timeline ] || fail "no timeline"
heapstory run --on-growth 8k -o grow -- "$PROGRAMS/vec_growth" </dev/null >/dev/null
[ -e grow/exit.hs ] || fail "no exit snapshot"
finish

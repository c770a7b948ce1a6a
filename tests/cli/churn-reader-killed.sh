# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# A reader that dies in the middle of a snapshot: the program goes on, the next reader works.
start churn heapstory run -o out --no-exit-snapshot -- "$PROGRAMS/churn" 20000
wait_mark churn 1 || finish
for i in $(seq 40); do
	heapstory snap out/store.live -o "killed$i.hs" >/dev/null 2>&1 &
	reader=$!
	sleep 0.00$((i % 10))$((i % 7))
	kill -KILL $reader 2>/dev/null
	wait $reader 2>/dev/null
	[ -e "killed$i.hs" ] && { heapstory check "killed$i.hs" >/dev/null || fail "half a snapshot under its own name"; }
done
heapstory snap out/store.live -o last.hs --json >last.json || fail "snap after killed readers"
check_json last.json 'j["totals"]["consistent"] is True'
heapstory check last.hs >/dev/null || fail "last.hs is not whole"
go churn
finish_program churn || fail "churn ended with $?"
grep -q '^OPS ' churn.out || fail "churn did not end by itself"
finish

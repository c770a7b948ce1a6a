# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# A program under SIGSTOP can be read, and goes on afterwards.
start churn heapstory run -o out --no-exit-snapshot -- "$PROGRAMS/churn"
wait_mark churn 1 || finish
pid=$(traced_pid churn)
for i in 1 2 3 4 5; do
	kill -STOP "$pid"
	until [ "$(sed 's/.*) //' /proc/"$pid"/task/*/stat | cut -c1 | sort -u)" = T ]; do
		sleep 0.01 # it takes effect thread by thread
	done
	heapstory snap "$pid" -o $i.hs >/dev/null || fail "snap of a stopped program"
	kill -CONT "$pid"
	heapstory check $i.hs >/dev/null || fail "$i.hs is not whole"
	heapstory heap $i.hs --by stack -n all --json >heap.json
	check_json heap.json 'sum(r["bytes"] for r in j["rows"]) == j["totals"]["bytes"]' 'j["totals"]["count"] > 100'
	sleep 0.05
done
go churn
finish_program churn || fail "churn ended with $?"
finish

# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# list, and a target by pid, name, folder, store and snapshot.
# Others may be traced on this machine meanwhile.
heapstory list | grep -qE '^no traced process runs$|^ *PID ' || fail "list"
start one heapstory run -o out -- "$PROGRAMS/wrapper"
wait_mark one 1 || finish
pid=$(traced_pid one)
heapstory list --json >list.json
row="[r for r in j['rows'] if r['pid'] == $pid]"
check_json list.json "len($row) == 1" "${row}[0]['name'] == 'wrapper'" "${row}[0]['mode'] == 'live'" \
	"${row}[0]['count'] >= 214"
snap=$(heapstory snap "$pid")
heapstory snap "$pid" -o named.hs --label 'at mark 1'
for target in "$pid" wrapper out out/store.live "$snap" named.hs; do
	heapstory heap "$target" --json >heap.json || fail "target $target"
	check_json heap.json 'any(r["count"] >= 64 for r in j["rows"])' "j['target']['pid'] == $pid"
done
heapstory info named.hs | grep -o 'at mark 1' | head -n 1
finish_program one || fail "ended with $?"
heapstory heap out/exit.hs >/dev/null || fail "exit snapshot"
heapstory list --json >list.json
check_json list.json "not $row"
expect_status 2 heapstory heap "$pid" 2>/dev/null
finish

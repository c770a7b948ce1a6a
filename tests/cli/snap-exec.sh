# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# A process that tries an exec, which fails, is not gone meanwhile.
start c heapstory run -o out -- "$PROGRAMS/execs"
wait_mark c 1 || finish
for i in {1..20}; do
	heapstory snap execs -o "s$i.hs" >/dev/null || fail "snapshot $i"
	heapstory heap "s$i.hs" --by function -n all --json >heap.json
	heapstory info "s$i.hs" >"s$i.txt"
	check_json heap.json '[r["count"] for r in j["rows"] if r["key"] == "keep"] == [10]'
done
heapstory list >list.out || fail "list"
grep -q ' execs$' list.out || fail "not in the list: $(cat list.out)"
grep -l 'went on as another' s*.txt
go c
wait_mark c 2 || finish
finish_program c || fail "ended with $?"
finish

# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# operator new that fails and calls its handler: the program goes on as without heapstory, and what
# the handler freed is freed; under glibc, tcmalloc and jemalloc.
for allocator in '' libtcmalloc_minimal.so.4 libjemalloc.so.2; do
	LD_PRELOAD=$allocator "$PROGRAMS/new_handler" >plain || fail "untraced: $?"
	LD_PRELOAD=$allocator heapstory run -o "out$allocator" -- "$PROGRAMS/new_handler" >traced || fail "traced: $?"
	diff plain traced || fail "output under '$allocator'"
	heapstory heap "out$allocator/exit.hs" --by function -n all --json >heap.json
	check_json heap.json '[(r["count"], r["bytes"]) for r in j["rows"] if r["key"].startswith("keep")] == [(3, 120)]' \
		'j["coverage"]["events_lost"] == 0'
	heapstory heap "out$allocator/exit.hs" --addresses '[1000]' --json >heap.json 2>/dev/null
	check_json heap.json 'j["rows"] == []'
done
finish

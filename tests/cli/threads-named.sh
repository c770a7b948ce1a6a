# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Threads go by the names that they have at the snapshot; a thread is one group, whatever its name.
start c heapstory run -o out -- "$PROGRAMS/slow_threads"
snap_marks c out/store.live 1 2 3
finish_program c || fail "ended with $?"
heapstory diff 1.hs 2.hs --by thread --function '^lose$' -n all --json >lost.json
check_json lost.json '{r["key"].split()[1]: r["count"]["delta"] for r in j["rows"]} == {"worker-0": 40, "worker-1": 20, "worker-2": 13, "worker-3": 10}'
heapstory diff 1.hs 3.hs --by thread --function '^lose$' -n all --json >lost.json
check_json lost.json 'sorted((r["key"].split()[1], r["count"]["delta"]) for r in j["rows"]) == [("late-3", 20), ("worker-0", 80), ("worker-1", 40), ("worker-2", 26)]'
for snapshot in 2 3; do
	heapstory heap $snapshot.hs --by thread -n all --json >threads.json
	check_json threads.json 'len(j["rows"]) >= 5' 'sum(r["count"] for r in j["rows"]) == j["totals"]["count"]'
done
check_json threads.json '{"late-3", "worker-0", "slow_threads"} <= {r["key"].split()[1] for r in j["rows"]}' \
	'not any("worker-3" in r["key"] for r in j["rows"])'
heapstory heap 2.hs --thread worker-1 --by site --json >one.json
heapstory heap 3.hs --thread late-3 --by site --json >late.json
check_json one.json '[r["count"] for r in j["rows"] if r["key"].split()[0] == "lose"] == [20]'
check_json late.json '[r["count"] for r in j["rows"] if r["key"].split()[0] == "lose"] == [20]'
heapstory heap 3.hs --by thread | grep -qE ' [0-9]+ late-3$' || fail "text of heap"
# blocks: the number, and in text the name if it is the thread's own
heapstory largest 3.hs -n all --json >blocks.json
check_json blocks.json '{r["thread_name"] for r in j["rows"]} >= {"worker-0", "late-3", "slow_threads"}' \
	'all(isinstance(r["thread"], int) for r in j["rows"])'
heapstory largest 3.hs -n all >blocks
grep -qE 'thread [0-9]+ \(late-3\)$' blocks || fail "no name of a thread in text"
grep -q 'thread [0-9]* (slow_threads)' blocks && fail "the program's name is no name of a thread"
finish

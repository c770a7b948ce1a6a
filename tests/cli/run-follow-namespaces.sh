# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Followed children that have the same pid, each in a namespace: each is traced, under the pid outside.
need unshare
heapstory run -o two --follow-children -- "$PROGRAMS/namespaces" two >tids
status=$?
[ $status = 77 ] && skip "no pid namespaces here"
[ $status = 0 ] || fail "two: ended with $status"
nr=0
for d in two/child.*; do
	heapstory heap "$d/exit.hs" --by thread -n all --json >heap.json || fail "$d"
	check_json heap.json "j['target']['pid'] == ${d#two/child.}" 'j["coverage"]["events_lost"] == 0'
	[ "$(json heap.json 'j["totals"]["count"]')" -lt 15 ] && continue
	nr=$((nr + 1))
	# the second thread's blocks, by its id outside
	json heap.json 'min(j["rows"], key=lambda r: r["count"])["key"].split()[0]' >>found
done
[ $nr = 2 ] || fail "$nr children with blocks, not 2: $(ls two)"
sort found | diff - <(sort tids) || fail "ids of threads"

# With a /proc of the namespace's own, what was followed into it goes on; what it forks is counted.
in_it=(unshare --pid --fork --mount-proc)
if [ -z "${FAILED:-}" ] && ! "${in_it[@]}" true 2>/dev/null; then
	skip "no /proc of a namespace's own here"
fi
heapstory run -o own --follow-children -- "${in_it[@]}" "$PROGRAMS/namespaces" forks || fail "own: $?"
for d in own/child.*; do
	heapstory heap "$d/exit.hs" --by function -n all --json >heap.json || fail "$d"
	json heap.json '[r["count"] for r in j["rows"] if r["key"] == "keep"]'
done
[ -z "$(find own -name 'store.live' -type l)" ] || fail "a store was left behind"
finish

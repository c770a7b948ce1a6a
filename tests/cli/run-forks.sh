# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Forks that fail, of threads, in handlers, inside the C library: each child is followed, or counted.
children() { # HOW N: there are so many folders of children, all whole
	local d nr=0
	for d in "$1"/child.*; do
		[ -d "$d" ] || continue
		nr=$((nr + 1))
		heapstory check "$d/exit.hs" >/dev/null || fail "$d/exit.hs"
		[ -L "$d/store.live" ] && fail "$d/store.live is still a link"
	done
	[ $nr = "$2" ] || fail "$1: $nr children, expected $2: $(ls "$1")"
}
each_child() { # HOW EXPRESSION: is true of `j`, the functions of each child
	for d in "$1"/child.*; do
		heapstory heap "$d/exit.hs" --by function -n all --json >heap.json && check_json heap.json "$2"
	done
}
mkdir stores
for how in fails threads handler daemon inside limit drop; do
	timeout 60 heapstory run -o $how --store stores --follow-children -- "$PROGRAMS/forks" $how 2>$how.err
	status=$?
	[ $status = 77 ] && echo "$how: not to be had here" >>figures && continue
	[ $status = 0 ] || fail "$how: ended with $status"
done
grep . inside.err limit.err
children fails 0
children threads 10
each_child threads '[r["count"] for r in j["rows"] if r["key"] == "child_keep"] == [5]'
children handler 6
children daemon 2
for d in daemon/child.*; do
	heapstory heap "$d/exit.hs" --by function -n all --json >heap.json
	json heap.json '"in_daemon: %s" % [r["count"] for r in j["rows"] if r["key"] == "in_daemon"]'
done | sort
children inside 0
heapstory info inside/exit.hs | grep 'note: .*system'
children limit 0
if ! grep -q '^drop:' figures 2>/dev/null; then
	children drop 0
	heapstory info drop/store.live >info.out || fail "drop: info"
	grep -q 'note:.*an exec goes on untraced' info.out || fail "drop: $(cat info.out)"
	grep -q 'note: 2 children could not be traced' info.out || fail "drop: $(cat info.out)"
fi
[ -z "$(ls stores)" ] || fail "left behind: $(ls stores)"
finish

# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# A thread that a signal handler takes out of the tracer for ever is recorded all the same
# afterwards; one that comes back is not taken for such a one.
at_site='[r["count"] for r in j["rows"] if r["key"] == "after_signals"]'
for how in jump thread alt switch; do
	timeout 100 heapstory run -o $how -- "$PROGRAMS/jumps" $how || fail "$how ended with $?"
	heapstory heap $how/exit.hs --by function -n all --json >heap.json || fail "$how: heap"
	check_json heap.json "$at_site == [1000]"
	json heap.json '"%s: %d lost, %s" % ("'$how'", j["coverage"]["events_lost"], j["coverage"]["notes"])' >>figures
	heapstory check $how/exit.hs >/dev/null || fail "$how: check"
done
# and threads that end there: no fork waits for them, each child is followed
timeout 100 heapstory run -o exit --follow-children -- "$PROGRAMS/jumps" exit >exit.txt || fail "exit ended with $?"
ms=$(sed -n 's/^MS //p' exit.txt)
[ "$ms" -lt 10000 ] || fail "20 forks took $ms ms"
children=(exit/child.*)
[ ${#children[@]} = 20 ] || fail "${#children[@]} children"
heapstory heap exit/exit.hs --by function -n all --json >heap.json || fail "exit: heap"
check_json heap.json "$at_site == [1000]"
json heap.json '"exit: %d lost, %s" % (j["coverage"]["events_lost"], j["coverage"]["notes"])' >>figures
echo "20 forks after threads that ended in a hook: $ms ms" >>figures
finish

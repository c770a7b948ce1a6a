# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Followed forks of a program whose handlers of pthread_atfork() allocate, lock and join.
timeout 60 heapstory run -o out --follow-children -- "$PROGRAMS/atfork" || fail "ended with $?"
children=(out/child.*)
[ ${#children[@]} = 3 ] || fail "children: $(ls out)"
for d in out/child.*; do
	heapstory check "$d/exit.hs" >/dev/null || fail "$d/exit.hs"
done
finish

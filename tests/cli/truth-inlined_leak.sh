# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# The truth of tests/programs/inlined_leak, and that rows of different templates read differently.
truth inlined_leak
start c heapstory run -o out --no-exit-snapshot -- "$PROGRAMS/inlined_leak"
snap_marks c out/store.live 1 2
finish_program c || fail "ended with $?"
for by in class site function; do
	heapstory diff 1.hs 2.hs --by $by >by.txt
	grep -oE '(job|task|blob<(100|33)>).*make.*' by.txt | sort -u >rows
	[ "$(wc -l <rows)" = 4 ] || fail "--by $by: $(cat by.txt)"
done
finish

# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Limits that are meant for the program: it sees them, and the snapshots are written all the same.
(
	ulimit -S -f 0
	heapstory run -o a -- sh -c 'ulimit -f'
) 2>limits.err | cat
heapstory check a/exit.hs >/dev/null || fail "no whole exit snapshot under a file size limit"
# limits that cannot be raised: refused before the start, in one line, whatever is too large
for blocks in 20 200; do
	expect_status 2 bash -c "ulimit -f $blocks; heapstory run -o small -- echo started" 2>small.err
	[ "$(grep -c '^heapstory: cannot .*: File too large (see .ulimit -f.)$' small.err)" = "$(wc -l <small.err)" ] ||
		fail "with $blocks blocks: $(cat small.err)"
	[ "$(wc -l <small.err)" = 1 ] || fail "not one line with $blocks blocks"
	[ -e small ] && fail "an output folder was left behind"
done
(
	ulimit -S -v 400000
	heapstory run -o b -- sh -c 'ulimit -v'
) || fail "ended with $?"
heapstory check b/exit.hs >/dev/null || fail "no whole exit snapshot under a memory limit"
# ignored signals stay ignored
(
	trap '' HUP USR1
	heapstory run -o c -- sh -c 'kill -HUP $$; kill -USR1 $$; echo still there'
) || fail "ended with $?"
# the core, if any, is the program's; nobody else leaves one
(
	ulimit -c unlimited
	heapstory run -o d -- sh -c 'kill -SEGV $$' 2>/dev/null
) 2>/dev/null
[ $? = 139 ] || fail "status of SIGSEGV"
finish

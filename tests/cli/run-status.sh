# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# run returns the program's status, or dies by its signal; arguments and output pass through.
expect_status 0 heapstory run -o a -- sh -c 'exit 0'
expect_status 42 heapstory run -o b -- sh -c 'exit 42'
exec 3>&2 2>/dev/null # where the shell tells of signals
heapstory run -o c -- "$PROGRAMS/ends" kill </dev/null >/dev/null 2>&1
[ $? = 137 ] || fail "killed: $?"
heapstory run -o d -- "$PROGRAMS/ends" abort </dev/null >/dev/null 2>&1
[ $? = 134 ] || fail "aborted: $?"
exec 2>&3 3>&-
[ "$(echo input | heapstory run -o e -- cat)" = input ] || fail "standard input"
[ "$(heapstory run -o f -- printf '%s,' a 'b c' '' --json -o)" = 'a,b c,,--json,-o,' ] || fail "arguments"
heapstory run -o g -- sh -c 'echo out; echo err >&2' >g.out 2>g.err
[ "$(cat g.out g.err)" = "out
err" ] || fail "output: $(cat g.out g.err)"
for f in store.live exit.hs timeline; do
	[ -e a/$f ] || fail "a/$f is missing"
done
heapstory run --no-exit-snapshot -o h -- true
[ -e h/exit.hs ] && fail "an exit snapshot all the same"
# a default folder, where one stands
mkdir sub && cd sub && heapstory run -- true && ls -d heapstory.true.*
finish

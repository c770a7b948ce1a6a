# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Two programs of one name: refused, with a list of them.
start one heapstory run -o out1 --no-exit-snapshot -- "$PROGRAMS/wrapper"
wait_mark one 1 || finish
heapstory snap wrapper -o one.hs >/dev/null || fail "one of that name is found"
start two heapstory run -o out2 --no-exit-snapshot -- "$PROGRAMS/wrapper"
wait_mark two 1 || finish
heapstory snap wrapper -o two.hs >snap.out 2>snap.err
[ $? = 2 ] || fail "two of one name"
for name in one two; do
	grep -q "$(traced_pid $name)" snap.err || fail "pid of $name is not listed: $(cat snap.err)"
done
# never by the command line
"$PYTHON" -c 'import time; time.sleep(20)' out1 &
other=$!
expect_status 2 heapstory snap out1x -o x.hs 2>/dev/null
kill $other
finish_program one || fail "one ended with $?"
finish_program two || fail "two ended with $?"
finish

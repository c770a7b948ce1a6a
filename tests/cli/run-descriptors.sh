# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Closed and shared descriptors are as without heapstory.
# what the program finds closed was closed
heapstory run -o a -- "$PYTHON" -c 'import os
for fd in 0, 1, 2:
	try: os.fstat(fd)
	except OSError: os.write(os.open("closed", os.O_WRONLY | os.O_CREAT | os.O_APPEND), b"%d closed\n" % fd)' <&- >&- 2>&- ||
	fail "ended with $?"
cat closed
heapstory check a/exit.hs >/dev/null || fail "no whole exit snapshot"
# a reader sees the end when the program closes its output, not when it ends
began=$SECONDS
mkfifo fifo
heapstory run -o b -- sh -c 'echo through; exec >&-; sleep 20' >fifo 2>/dev/null &
other=$!
cat fifo
[ $((SECONDS - began)) -lt 15 ] || fail "the reader waited for the end of the program"
kill $other
wait $other
# other descriptors too
heapstory run -o c -- sh -c 'exec 7>&-; sleep 20' 7>fifo 2>/dev/null &
pid=$!
cat fifo
[ $((SECONDS - began)) -lt 15 ] || fail "the reader of descriptor 7 waited"
kill $pid
wait $pid
[ $? = 143 ] || fail "status of a program ended by SIGTERM"
finish

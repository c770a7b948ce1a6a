# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Signals sent to run reach the program; the program's handler decides.
cat >trap.sh <<'END'
trap 'echo got TERM; exit 3' TERM
trap 'echo got USR1' USR1
echo MARK 1
while :; do sleep 0.05; done
END
start t heapstory run -o out -- bash trap.sh
wait_mark t 1 || finish
kill -USR1 "${PID[t]}"
sleep 0.3
kill -TERM "${PID[t]}"
finish_program t
status=$?
[ $status = 3 ] || fail "ended with $status"
grep got t.out
heapstory check out/exit.hs >/dev/null || fail "no whole exit snapshot"
finish

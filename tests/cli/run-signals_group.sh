# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# What is sent to the whole process group reaches the program once, and what is sent to run alone
# as well. The group is a new one: of run, the program, and nobody else.
setsid -w heapstory run -o out -- "$PROGRAMS/count_signals" >got 2>err &
for ((i = 0; i < 400; i++)); do
	grep -qs READY got && break
	sleep 0.05
done
program=$(sed -n 's/READY //p' got)
run=$(ps -o ppid= -p "$program" | tr -d ' ')
[ "$(ps -o pgid= -p "$program" | tr -d ' ')" = "$run" ] || fail "not a group of its own"
# expect NR: the program got so many; run hands on what it got before it hands on the question
expect() {
	local before
	before=$(grep -c GOT got)
	kill -RTMIN+2 "$run"
	for ((i = 0; i < 400; i++)); do
		[ "$(grep -c GOT got)" -gt "$before" ] && break
		sleep 0.05
	done
	[ "$(tail -n 1 got)" = "GOT $1" ] || fail "expected $1: $(tail -n 1 got)"
}
for ((n = 0; n < 20; n++)); do kill -RTMIN+1 -- "-$run"; done
expect '20 0'
for ((n = 0; n < 20; n++)); do kill -RTMIN+1 "$run"; done
expect '40 0'
for ((n = 0; n < 20; n++)); do
	kill -RTMIN+1 "$run"
	kill -RTMIN+1 -- "-$run"
	kill -RTMIN+1 "$program"
done
expect '100 0'
kill -TERM -- "-$run"
expect '100 1'
kill -TERM "$run"
expect '100 2'
kill -TERM "$program"
expect '100 3'
# the witness gone, all are passed on
for pid in $(pgrep -g "$run" heapstory-group); do kill -KILL "$pid"; done
kill -RTMIN+1 -- "-$run"
expect '102 3'
kill -USR2 "$program"
wait $! || fail "ended with $?"
sed '/^heapstory: /d' err
heapstory check out/exit.hs >/dev/null || fail "no whole exit snapshot"
finish

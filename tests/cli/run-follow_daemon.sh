# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Followed children outlive the program: run says so, and supervise gives them what they still need.
# shellcheck disable=SC2016 # the shell that is traced expands it
leave='n=$1
while [ $n -gt 0 ]; do
	sleep 1000 >/dev/null 2>&1 &
	echo $! >>"$2"
	until read -r comm </proc/$!/comm && [ "$comm" = sleep ] && [ -e "$3/child.$!/store.live" ]; do :; done
	n=$((n - 1))
done'
heapstory run -o out --follow-children -- sh -c "$leave" - 1 pid out 2>one.err || fail "ended with $?"
pid=$(cat pid)
sed "s/$pid/PID/g" one.err
[ -L "out/child.$pid/store.live" ] || fail "$(ls out out/child.*)"
[ -e "out/child.$pid/exit.hs" ] && fail "it has an exit.hs while it runs"
heapstory supervise "$pid" &
supervisor=$!
for ((i = 0; i < 200; i++)); do # until it looks after the child
	heapstory supervise "$pid" -o none 2>&1 | grep -q 'looked after' && break
	sleep 0.05
done
kill "$pid"
wait $supervisor || fail "supervise ended with $?"
heapstory check "out/child.$pid/exit.hs" >/dev/null || fail "exit.hs"
if [ ! -f "out/child.$pid/store.live" ] || [ -L "out/child.$pid/store.live" ]; then fail "not moved"; fi

heapstory run -o more --follow-children -- sh -c "$leave" - 3 pids more 2>more.err || fail "ended with $?"
sed -E 's/[0-9]+ \(/PID (/g' more.err
# shellcheck disable=SC2046 # words
kill $(cat pids)
# nobody looks after these: their stores stay where they were made
for store in more/child.*/store.*; do
	[ -L "$store" ] && rm -f "$(readlink "$store")"
done
finish

# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Names of code that node makes and drops: those of the perf map as it was at each snapshot, also
# after the program has made more of it, and after the map is gone.
need node
start n heapstory run -o out -- node --perf-basic-prof --interpreted-frames-native-stack --expose-gc \
	"$TESTS/programs/churn.js"
wait_mark n 1 || finish
pid=$(traced_pid n)
map=/tmp/perf-$pid.map
[ -e "$map" ] || fail "no $map"
heapstory snap out/store.live -o one.hs >/dev/null || fail "snap 1"
cp "$map" one.map
go n
wait_mark n 2 || finish
heapstory snap out/store.live -o two.hs >/dev/null || fail "snap 2"
cp "$map" two.map
heapstory heap "$pid" --by stack -n all --json >live.json || fail "heap of the running program"
finish_program n || fail "status of node"
rm -f "$map"
[ "$(stat -c %s one.map)" -lt "$(stat -c %s two.map)" ] || fail "the map did not grow"
for n in one two; do
	heapstory check $n.hs >/dev/null || fail "check $n.hs"
	heapstory heap $n.hs --by stack -n all --json >$n.json || fail "heap $n.hs"
	"$PYTHON" "$TOOLS/perfmap.py" $n.map $n.json >$n.out || { fail "names of $n.hs"; head -n 5 $n.out; }
done
"$PYTHON" "$TOOLS/perfmap.py" two.map live.json >live.out || fail "names of the running program"
# enough of it was there to be compared, and in the second snapshot code lies over older code
read -r _ frames _ overlaps < <(tail -n 1 two.out)
[ "$frames" -ge 100 ] || fail "only $frames frames of code made at run time"
[ "$overlaps" -ge 50 ] || fail "only $overlaps of them where lines overlap"
grep -cE '(JS|LazyCompile|Function):.made_0_' one.json >/dev/null || fail "no frame of a function that was made"
finish

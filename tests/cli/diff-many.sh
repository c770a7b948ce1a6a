# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# diff of snapshots of many blocks: exact, in little memory, by every grouping.
blocks=300000
told=$("$BUILD/bench/big_snapshots" $blocks 10 b.hs a.hs) || fail "big_snapshots"
read -r born _ freed _ resized _ delta _ <<<"$told"
# what it takes for blocks that stayed does not depend on how many there are
cat >limited.py <<'END'
import os, subprocess, sys
child = subprocess.Popen(sys.argv[2:], stdout=open(sys.argv[1], 'w'))
_, status, usage = os.wait4(child.pid, 0)
print(usage.ru_maxrss // 1024 if not status else 'status %d' % status)
END
for by in site stack module thread; do
	# every row would be 20,000 stacks of 12 frames
	rows=all
	[ $by = site ] || [ $by = stack ] && rows=1
	used=$("$PYTHON" limited.py diff.json heapstory diff b.hs a.hs --by $by -n $rows --json)
	echo "$by: $used MiB" >>used
	check_json diff.json "j['totals']['born']['count'] == $born" "j['totals']['freed']['count'] == $freed" \
		"j['totals']['resized']['count'] == $resized" "j['totals']['bytes']['delta'] == $delta" \
		"j['totals']['count']['before'] == $blocks" \
		'len(j["rows"]) == 1 or all(sum(r[p][q] for r in j["rows"]) == j["totals"][p][q] for p in ("born", "freed", "resized") for q in ("count", "bytes"))'
done
"$BUILD/bench/big_snapshots" $((blocks / 10)) 10 b2.hs a2.hs >/dev/null
few=$("$PYTHON" limited.py diff.txt heapstory diff b2.hs a2.hs --by module)
many=$("$PYTHON" limited.py diff.txt heapstory diff b.hs a.hs --by module)
# two arrays of them would be 30 MiB; a sanitizer takes memory of its own
[ $((many - few)) -lt 25 ] || [ "${BUILD##*/}" != build ] || fail "$few MiB for few, $many for many: $(cat used)"
heapstory diff a.hs b.hs --json >back.json
check_json back.json "j['totals']['bytes']['delta'] == -($delta)" "j['totals']['born']['count'] == $freed"
finish

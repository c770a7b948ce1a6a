# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# python3 with all of its blocks by malloc: same output, same blocks.
cat >work.py <<-'END'
	import collections, json, re, sys
	keep = [{"id": i, "name": "name %d" % i, "tags": ["a", "b", str(i)]} for i in range(1500)]
	words = collections.Counter(re.findall(r"\w+", json.dumps(keep[:500])))
	table = {str(i): [i] * (i % 17) for i in range(700)}
	del keep[::3]
	print(len(keep), words.most_common(3), sum(map(len, table.values())))
	sys.stdout.flush()
	import os
	os._exit(7)
END
# os._exit: what the interpreter holds is still there at the end
export PYTHONMALLOC=malloc PYTHONHASHSEED=0
"$PYTHON" work.py >plain.out 2>&1
plain=$?
with_count heapstory run -o out --no-exit-snapshot -- "$PYTHON" work.py >traced.out 2>traced.err
status=$?
[ $status = $plain ] || fail "status $status, untraced $plain"
cmp plain.out traced.out || fail "other output"
counted out
heapstory heap out/store.live --json >heap.json
check_json heap.json 'j["totals"]["count"] > 5000'

# without PYTHONMALLOC the report says what it cannot see
unset PYTHONMALLOC
heapstory run -o pymalloc -- "$PYTHON" -c 'print(1)' >/dev/null 2>&1 || fail "python3 ended with $?"
heapstory heap pymalloc/exit.hs --json >heap.json
check_json heap.json 'any("pymalloc" in n for n in j["coverage"]["notes"])'
finish

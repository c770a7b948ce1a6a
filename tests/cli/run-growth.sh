# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Snapshots on growth, a budget for them, and what the timeline adds up to.
grow='import time
l = []
for i in range(60):
	l.append(bytearray(100000))
	time.sleep(0.03)'
heapstory run -o a --on-growth 1m -- "$PYTHON" -c "$grow" || fail "ended with $?"
nr=$(find a -name "0*.hs" | wc -l)
if [ "$nr" -lt 4 ] || [ "$nr" -gt 7 ]; then fail "$nr snapshots of 6 MB by the megabyte"; fi
# the budget: the first and the latest stay
heapstory run -o b --every 50ms --keep 60k -- "$PYTHON" -c "$grow" || fail "ended with $?"
[ -e b/0001.hs ] || fail "the first is gone"
sum=$(cat b/0*.hs | wc -c)
[ "$sum" -le 61440 ] || fail "$sum bytes of snapshots"
latest=$("$PYTHON" -c 'import json
print([json.loads(line)["snapshot"] for line in open("b/timeline") if "snapshot" in line][-2])')
[ -e "b/$latest" ] || fail "the latest, $latest, is gone"
# the timeline: stacks add up to the bytes of each line, and to what the snapshot says
"$PYTHON" - a <<'END'
import json, subprocess, sys
now, lines = {}, 0
for line in open(sys.argv[1] + "/timeline"):
	line = json.loads(line)
	if "timeline" in line:
		now, nodes, modules = {}, 0, 0
		continue
	modules += len(line["modules"])
	for node in line["nodes"]:
		assert node[0] <= nodes and node[1] <= modules, node
		nodes += 1
	for stack in line["stacks"]:
		assert 0 < stack[0] <= nodes
		now[stack[0]] = stack[1:]
	lines += 1
	heap = json.loads(subprocess.check_output(["heapstory", "heap", sys.argv[1] + "/" + line["snapshot"], "--json"]))
	without = heap["coverage"]["blocks_without_stack"]
	assert (heap["totals"]["count"], heap["totals"]["bytes"]) == (line["count"], line["bytes"]), line["snapshot"]
	assert sum(s[0] for s in now.values()) + without == line["count"], line["snapshot"]
	if not without: assert sum(s[1] for s in now.values()) == line["bytes"], line["snapshot"]
assert lines >= 5
END
# shellcheck disable=SC2181 # the status of a here-document
[ $? = 0 ] || fail "timeline"
finish

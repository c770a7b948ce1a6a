# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# python3 that appends to a list for ever: the report's numbers against the program's own.
need "$PYTHON"
cat >grow.py <<'END'
import sys
keep = []
def append(n):
    for i in range(n): keep.append(1000000 + len(keep))
append(1000)
for mark in range(1, 21):
    append(2000)
    # what the list has room for, and how many it has
    print("ROOM", sys.getsizeof(keep) - sys.getsizeof([]))
    print("LEN", len(keep))
    print("MARK", mark, flush=True)
    sys.stdin.readline()
END
export PYTHONMALLOC=malloc PYTHONHASHSEED=0
start py heapstory run -o out -- "$PYTHON" grow.py
for ((mark = 1; mark <= 20; mark++)); do
	wait_mark py $mark || finish
	heapstory snap out -o "$(printf %02d $mark).hs" >/dev/null
	go py
done
finish_program py || fail "ended with $?"
heapstory trend [0-9][0-9].hs --by size -n all --json >size.json
heapstory trend [0-9][0-9].hs --by stack -n all --json >stack.json
"$PYTHON" - <<'END'
import json
said = {}
for line in open("py.out"):
    said.setdefault(line.split()[0], []).append(int(line.split()[1]))
room, length = said["ROOM"], said["LEN"]
rows = json.load(open("stack.json"))["rows"]
last = len(room) - 1
# the list's own buffer: no bytes but these in that stack, in every snapshot
mine = [r for r in rows if r["bytes"] == room]
if len(mine) != 1: print("no group is the list:", room, [(r["key"], r["bytes"]) for r in rows if r["changed"]])
for r in mine:
    if (r["shape"], r["confidence"]) != ("linear", "high"): print("list", r["shape"], r["confidence"])
    hours = (r["at_s"][-1] - r["at_s"][0]) / 3600
    if not 0.5 < r["slope_bytes_per_hour"] * hours / (room[-1] - room[0]) < 2: print("slope", r["slope_bytes_per_hour"] * hours, room)
    if r["count"] != [1] * 20: print("count", r["count"])
    if not r["lineage"] or r["lineage"]["nr_steps"] < 20 or not 1.05 < r["lineage"]["factor"] < 1.2: print("lineage", r["lineage"] and r["lineage"]["nr_steps"])
# its numbers, one block each
ints = [r for r in rows if [n - r["count"][0] for n in r["count"]] == [n - length[0] for n in length]]
if len(ints) != 1: print("no group has a block a number:", length, [(r["key"], r["count"]) for r in rows if r["changed"]])
for r in ints:
    if (r["shape"], r["confidence"]) != ("linear", "high"): print("numbers", r["shape"], r["confidence"])
sizes = {r["key"]: r for r in json.load(open("size.json"))["rows"]}
each = (ints[0]["bytes"][-1] - ints[0]["bytes"][0]) / (length[-1] - length[0]) if ints else 28
if not sizes[str(int(each))]["grows"]: print("size", each, sizes[str(int(each))]["shape"])
END
finish

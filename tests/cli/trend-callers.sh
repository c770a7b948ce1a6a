# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Buffers that grow through several callers, each of which calls the allocator itself: a row each, of
# the caller that grew it first, which tells who else did; of files, and of what the timeline keeps.
need "$PYTHON"
[ -e "$PROGRAMS/callers" ] || skip "tests/programs/callers is not built"
start c heapstory run -o out -- "$PROGRAMS/callers" 28
for ((mark = 1; mark <= 28; mark++)); do
	wait_mark c $mark || finish
	[ -e out/timeline ] || : >out/timeline # snap goes on with one, and does not begin it
	heapstory snap out >/dev/null || fail "no snapshot at mark $mark"
	go c
done
finish_program c || fail "ended with $?"
heapstory trend out -n all --json >folder.json
heapstory trend out/0*.hs -n all --json >files.json
heapstory trend out/0*.hs -n all --min 0 --older 0 --json >blocks.json
mkdir half
cp out/timeline out/0028.hs half/
heapstory trend half -n all --json >half.json
"$PYTHON" - <<'END'
import collections, json
said, steps = collections.defaultdict(list), collections.defaultdict(list)
for line in open("c.out"):
    word, *rest = line.split()
    if word == "ROOM": said[rest[0]].append(int(rest[1]))
    if word == "STEP": steps[rest[0]].append((rest[1], int(rest[2])))
reports = {name: json.load(open(name + ".json")) for name in ("folder", "files", "blocks", "half")}
for name, j in reports.items():
    rows = sorted((r["key"], r["bytes"], r["count"], r["shape"], r["first_growth_s"]) for r in j["rows"])
    if name == "folder": same = rows
    if rows != same: print(name, "differs from folder")
    for i in range(28):
        if sum(r["bytes"][i] for r in j["rows"]) != j["totals"]["bytes"][i]: print(name, "rows do not add up at", i)
for buffer, rooms in said.items():
    mine = [r for r in reports["folder"]["rows"] if r["key"].startswith(buffer + "_") and r["bytes"] == rooms]
    if len(mine) != 1: print(buffer, "is no row:", rooms, [(r["key"], r["bytes"]) for r in reports["folder"]["rows"]])
    for r in mine:
        born, *grown = steps[buffer]
        if r["key"].split("(")[0] != grown[0][0]: print(buffer, "first grew in", grown[0][0], "row", r["key"])
        if not r["grows"] or r["shape"] != ("linear" if buffer == "list" else "doubling"): print(buffer, r["grows"], r["shape"])
        if not r["buffer"] or r["count"] != [1] * 28: print(buffer, r["buffer"], r["count"])
        l = r["lineage"]
        if l["nr_steps"] != len(grown): print(buffer, l["nr_steps"], "steps of", len(grown))
        kept = grown if len(grown) <= 32 else grown[:8] + grown[-24:]
        if [s["size"] for s in l["steps"]] != [size for _, size in kept]: print(buffer, "sizes of steps")
        who = collections.Counter(f for f, _ in kept)
        if {g["function"].split("(")[0]: g["count"] for g in l["growers"]} != who: print(buffer, l["growers"], who)
        if len(who) < 3: print(buffer, "is grown by few:", who)
        # it first grew before the first snapshot; no snapshot saw that
        if not r["first_growth_s"] == l["steps"][0]["s"] < r["at_s"][0]: print(buffer, r["first_growth_s"], l["steps"][0]["s"])
END
heapstory trend out >text
for name in list ring queue; do
	grep -qE "(high|medium) +${name}_[a-z]+ <- main" text || fail "$name is no row of the text"
done
[ "$(grep -c 'innocent' text)" = 3 ] || fail "text does not say who grew them"
finish

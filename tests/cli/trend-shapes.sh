# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Each shape of growth in one process, from snapshots and from what the timeline keeps of them; and
# what one snapshot alone says.
need "$PYTHON"
start c heapstory run -o out -- "$PROGRAMS/trends" 24
for ((mark = 1; mark <= 24; mark++)); do
	wait_mark c $mark || finish
	heapstory snap out >/dev/null || fail "no snapshot at mark $mark"
	go c
done
finish_program c || fail "ended with $?"
heapstory trend out -n all --json >all.json
"$PYTHON" - all.json c.out <<'END'
import json, sys
j = json.load(open(sys.argv[1]))
said = {}
for line in open(sys.argv[2]):
    word, n = line.split()
    said.setdefault(word, []).append(int(n))
rows = {r["key"].split()[0]: r for r in j["rows"]}
want = {"leak_handle": ("linear", "high"), "append_list": ("linear", "high"),
        "append_log": ("doubling", ("medium", "high")), "fill_cache": (("plateau", "step"), "low"),
        "keep_recent": ("noise", "low"), "load_table": ("noise", "low"), "jitter": ("noise", "low"),
        "load_pool": ("shrinking", "low")}
for name, (shape, sure) in want.items():
    row = rows[name]
    if row["shape"] not in shape or row["confidence"] not in sure:
        print(name, row["shape"], row["confidence"], row["bytes"])
    if row["grows"] != (name in ("leak_handle", "append_list", "append_log")):
        print(name, "grows:", row["grows"])
leak, log, at = rows["leak_handle"], rows["append_log"], j["totals"]["at_s"]
if leak["bytes"] != said["LEAKED"]: print("leaked", leak["bytes"], said["LEAKED"])
hours = (at[-1] - at[0]) / 3600
gained = leak["bytes"][-1] - leak["bytes"][0]
if not 0.5 < leak["slope_bytes_per_hour"] * hours / gained < 2: print("slope", leak["slope_bytes_per_hour"] * hours, gained)
used = said["LOGGED"]
if not all(n <= room < 2 * n for n, room in zip(used, log["bytes"])): print("log", used, log["bytes"])
step = log["next_step"]
if step["bytes"] != 2 * log["bytes"][-1] or step["factor"] != 2: print("next step", step, log["bytes"][-1])
# when it is due: when what is logged fills the room, at the rate so far
due = at[-1] + (log["bytes"][-1] - used[-1]) / (used[-1] - used[0]) * (at[-1] - at[0])
if not abs(step["at_s"] - due) < 0.35 * (due - at[0]) and not step["at_s"] == at[-1]: print("due", step["at_s"], due)
if j["totals"]["growing"] != 3: print(j["totals"])
for row in j["rows"]:
    if sum(s["bytes"] for s in row["survivors"]) != row["bytes"][-1]: print(row["key"], row["survivors"], row["bytes"][-1])
END
# mappings, and both
heapstory trend out --kind mapping -n all --json >mapping.json
check_json mapping.json '[(r["key"].split()[0], r["kind"], r["shape"], r["confidence"]) for r in j["rows"]] == [("map_pages", "mapping", "linear", "high")]' \
	'j["rows"][0]["bytes"] == [65536 * i for i in range(1, 25)]'
heapstory trend out --kind all -n all --json >both.json
check_json both.json '{r["key"].split()[0] for r in j["rows"] if r["grows"]} == {"map_pages", "leak_handle", "append_list", "append_log"}'
# a run by itself: the snapshots, and what the timeline has of them when most are gone
heapstory run -o run --every 50ms -- "$PROGRAMS/trends" 40 </dev/null >/dev/null || fail "run ended with $?"
mkdir files half
cp run/0*.hs files/
cp run/timeline half/
cp "$(find files -name '0*.hs' | sort | tail -n 1)" half/
heapstory trend files -n all --json >all.json
heapstory trend half -n all --json >half.json
"$PYTHON" - all.json half.json <<'END'
import json, sys
a, b = (json.load(open(f)) for f in sys.argv[1:])
same = ("key", "bytes", "count", "at_s", "shape", "confidence", "slope_bytes_per_hour", "first_growth_s", "survivors")
if [[r[m] for m in same] for r in a["rows"]] != [[r[m] for m in same] for r in b["rows"]]: print("half differs")
END
# a buffer that doubles goes from size to size: it is no group's
heapstory trend files --by size -n all --json >size.json
check_json size.json 'not any(r["buffer"] for r in j["rows"])'
# and with filters and groups that need blocks
for by in site stack function module zone; do
	heapstory trend files --by $by -n all --json >a.json
	heapstory trend files --by $by -n all --min 0 --older 0 --json >b.json
	heapstory trend half --by $by -n all --json >c.json
	"$PYTHON" - a.json b.json c.json <<-'END' || fail "by $by"
		import json, sys
		def rows(f): return sorted((r["key"], r["bytes"], r["count"], r["shape"]) for r in json.load(open(f))["rows"])
		sys.exit(not rows(sys.argv[1]) == rows(sys.argv[2]) == rows(sys.argv[3]))
	END
done
for by in class thread size age; do
	heapstory trend files --by $by -n all --json >$by.json
	check_json $by.json '[sum(r["bytes"][i] for r in j["rows"]) for i in range(len(j["totals"]["at_s"]))] == j["totals"]["bytes"]'
done
check_json size.json '[r["shape"] for r in j["rows"] if r["key"] == "24"] == ["linear"]'
heapstory trend files --function '^fill_cache$' -n all --json >cache.json
check_json cache.json '[r["key"].split()[0] for r in j["rows"]] == ["fill_cache"]'
# one snapshot: what has survivors from all of the run (not 1: a busy machine spreads marks unevenly)
heapstory heap out/0024.hs --by site --json >heap.json
check_json heap.json 'j["suspects"][0]["key"].split()[0] == "leak_handle"' \
	'j["suspects"][0]["age_spread"] > 0.5' \
	'not {"load_table", "keep_recent", "fill_cache", "jitter"} & {s["key"].split()[0] for s in j["suspects"]}'
heapstory heap out/0024.hs --by age --json >age.json
check_json age.json 'j["suspects"][0]["key"].split()[0] == "leak_handle"' 'sum(r["count"] for r in j["rows"]) == j["totals"]["count"]'
heapstory heap out/0024.hs | grep -q '^Suspects: ' || fail "text has no suspects"
finish

# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# A long run on a small budget: snapshots and timeline stay within it, keep the first and the latest,
# and trend knows more than there are files.
need "$PYTHON"
heapstory run -o out --every 20ms --keep 200k -- "$PROGRAMS/trends" 60 </dev/null >/dev/null || fail "ended with $?"
[ -e out/0001.hs ] || fail "the first is gone"
sum=$(cat out/*.hs | wc -c)
latest=$(find out -name '0*.hs' | sort | tail -n 1)
[ "$sum" -le 204800 ] || fail "$sum bytes of snapshots"
size=$(stat -c %s out/timeline)
[ "$size" -le 6400 ] || fail "$size bytes of timeline"
heapstory trend out -n all --json >all.json
"$PYTHON" - "$latest" <<'END'
import glob, json, os, sys
j = json.load(open("all.json"))
lines = [json.loads(l) for l in open("out/timeline")]
named = [l["snapshot"] for l in lines if "snapshot" in l]
if named[0] != "0001.hs" or named[-1] != "exit.hs": print("timeline", named)
files = {os.path.basename(f) for f in glob.glob("out/0*.hs")}
if j["totals"]["samples"] != len(files | set(named) - {"exit.hs"}): print(j["totals"]["samples"], len(files), len(named))
taken = int(os.path.basename(sys.argv[1])[:4])
if len(files) >= taken / 2: print("nothing was thinned out:", len(files), "of", taken)
at = j["totals"]["at_s"]
gaps = [b - a for a, b in zip(at, at[1:])]
if max(gaps) > (at[-1] - at[0]) / 2: print("uneven", at)
rows = {r["key"].split()[0]: r for r in j["rows"]}
if not rows["leak_handle"]["grows"] or rows["leak_handle"]["shape"] != "linear": print(rows["leak_handle"])
END
# the timeline alone
mkdir alone
cp out/timeline alone/
heapstory trend alone -n all --json >alone.json
check_json alone.json 'j["coverage"]["mode"] is None' 'any("snapshots are gone" in n for n in j["coverage"]["notes"])' \
	'[r["bytes"][-1] > r["bytes"][0] for r in j["rows"] if r["key"].split()[0] == "leak_handle"] == [True]' 'all(r["age_spread"] is None and not r["survivors"] for r in j["rows"])'
heapstory trend alone | grep -q "^mode" && fail "a mode that nobody knows"
# 0: all stay
heapstory run -o all --every 20ms --keep 0 -- "$PROGRAMS/trends" 20 </dev/null >/dev/null || fail "ended with $?"
[ "$(find all -name '0*.hs' | wc -l)" = "$(find all -name '0*.hs' | sort | tail -n 1 | sed 's/.*\/0*//; s/\.hs//')" ] || fail "some are gone: $(ls all)"
# a timeline that cannot be read is said, and done without
echo '{}' >>all/timeline
heapstory trend all --json >damaged.json
check_json damaged.json 'any("timeline is not used" in n for n in j["coverage"]["notes"])' 'j["totals"]["samples"] > 5'
finish

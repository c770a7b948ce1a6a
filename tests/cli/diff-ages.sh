# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# diff --older and --younger: a block is as old as it was at its own snapshot, and one that passes at
# either is looked at in both. Held against the blocks themselves.
start c heapstory run -o out -- "$PROGRAMS/periods"
for ((mark = 1; mark <= 24; mark++)); do
	wait_mark c $mark || finish
	case $mark in 12 | 20) heapstory snap out -o $mark.hs >/dev/null ;; esac
	go c
done
finish_program c || fail "ended with $?"
for snapshot in 12 20; do
	heapstory heap $snapshot.hs --addresses all -n all --json >$snapshot.json
done
for filter in '--older 100' '--older 300' '--older 100000' '--younger 150' '--younger 400' '--older 0'; do
	heapstory diff 12.hs 20.hs "${filter% *}" "${filter#* }ms" -n all --json >diff.json 2>diff.err
	# shellcheck disable=SC2086 # two words
	"$PYTHON" - $filter <<-'END' || fail "$filter"
		import json, sys
		older, limit = sys.argv[1] == "--older", int(sys.argv[2]) / 1000
		sides = [{b["serial"]: b for b in json.load(open(f))["rows"]} for f in ("12.json", "20.json")]
		passes = lambda b: b["age_s"] >= limit - 1e-9 if older else b["age_s"] <= limit + 1e-9
		both = {s for side in sides for s, b in side.items() if passes(b)}
		sides = [{s: b["size"] for s, b in side.items() if s in both} for side in sides]
		want = {"count": [len(s) for s in sides], "bytes": [sum(s.values()) for s in sides]}
		want["born"] = sum(n for s, n in sides[1].items() if s not in sides[0])
		want["freed"] = sum(n for s, n in sides[0].items() if s not in sides[1])
		t = json.load(open("diff.json"))["totals"]
		got = {p: [t[p]["before"], t[p]["after"]] for p in ("count", "bytes")}
		got["born"], got["freed"] = t["born"]["bytes"], t["freed"]["bytes"]
		if got != want: print(sys.argv[1:], got, want)
		sys.exit(got != want)
	END
done
# heap by age: the groups are those of the blocks' own ages
for snapshot in 12 20; do
	heapstory heap $snapshot.hs --by age -n all --json >age.json
	"$PYTHON" - $snapshot.json <<-'END' || fail "heap by age at $snapshot"
		import collections, json, sys
		names = {1: "under 1s", 10: "1s to 10s", 60: "10s to 1m", 600: "1m to 10m", 3600: "10m to 1h"}
		want = collections.Counter()
		for b in json.load(open(sys.argv[1]))["rows"]:
		    group = names[next(n for n in names if b["age_s"] < n)]
		    want.update({(group, "count"): 1, (group, "bytes"): b["size"]})
		got = {(r["key"], m): r[m] for r in json.load(open("age.json"))["rows"] for m in ("count", "bytes")}
		if got != want: print(got, dict(want))
		sys.exit(got != want)
	END
done
# without a filter: what is replaced in each period comes and goes, what leaks stays
heapstory diff 12.hs 20.hs --by function -n all --json >all.json
check_json all.json '[r["count"]["delta"] for r in j["rows"] if r["key"].split("(")[0] == "index_user"] == [56]' \
	'[(r["born"]["count"], r["freed"]["count"]) for r in j["rows"] if r["key"].split("(")[0] == "configure"] == [(20, 20)]'
finish

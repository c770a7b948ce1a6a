# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# The suspects of one snapshot are sites, whatever the table is grouped by; filters hold for them.
truth periods
start c heapstory run -o out -- "$PROGRAMS/periods"
for ((mark = 1; mark <= 24; mark++)); do
	wait_mark c $mark || finish
	[ $mark = 2 ] && heapstory snap out -o early.hs >/dev/null
	[ $mark = 24 ] && heapstory snap out -o late.hs >/dev/null
	go c
done
finish_program c || fail "ended with $?"
heapstory heap late.hs --by site --json >site.json
heapstory heap late.hs --addresses all -n all --json >blocks.json
# by the births of the blocks: who has 10 or more of them, over half of the life or more
"$PYTHON" - <<'END' || fail "suspects are not what the births say"
import collections, json, math, sys
site, blocks = (json.load(open(f)) for f in ("site.json", "blocks.json"))
since, taken = blocks["coverage"]["since_s"], blocks["target"]["taken_s"]
births = collections.defaultdict(list)
def place(stack):
    frame = next((f for f in stack or [] if not f["runtime"]), {})
    return frame.get("function"), frame.get("line")
for b in blocks["rows"]: births[place(b["stack"])].append(b["birth_s"])
def spread(times):
    slices = collections.Counter(min(int(20 * max(t - since, 0) / (taken - since)), 19) for t in times).values()
    return math.exp(-sum(n / len(times) * math.log(n / len(times)) for n in slices)) / 20
want = {p: spread(t) for p, t in births.items() if len(t) >= 10 and spread(t) >= 0.5}
got = {place(s["stack"]): s["age_spread"] for s in site["suspects"]}
near = lambda a, b: a is not None and b is not None and abs(a - b) < 0.06  # births are rounded to ms
bad = [p for p in want.keys() | got.keys() if not near(want.get(p), got.get(p)) and not 0.44 < (want.get(p) or got.get(p)) < 0.56]
if bad: print(bad, want, got)
if not births[next(p for p in births if (p[0] or "").startswith("index_user"))]: bad = 1
sys.exit(bool(bad))
END
check_json site.json 'all(set(s) - {"age_spread"} == set(j["rows"][0]) for s in j["suspects"])' \
	'all(0.5 <= s["age_spread"] <= 1 for s in j["suspects"])' \
	'not {"configure", "jitter", "remember", "batch"} & {s["key"].split("(")[0] for s in j["suspects"]}'
for by in class stack function module file zone thread size age; do
	heapstory heap late.hs --by $by --json >$by.json
	"$PYTHON" -c 'import json, sys
a, b = (json.load(open(f))["suspects"] for f in sys.argv[1:])
sys.exit(a != b)' site.json $by.json || fail "suspects by $by"
done
heapstory heap late.hs --by site --zones --json >zones.json
"$PYTHON" -c 'import json, sys
a, b = ([s["key"] for s in json.load(open(f))["suspects"]] for f in sys.argv[1:])
sys.exit(a != b)' site.json zones.json || fail "suspects with --zones"
# as text, and not where there is none, or the life is too short for any
heapstory heap late.hs --by module | sed -n '/^Suspects/,$p' >text
[ "$(json site.json 'len(j["suspects"])')" = "$(grep -c '^ *[0-9]* %  ' text)" ] || fail "text: $(cat text)"
heapstory heap late.hs --function '^note' --json >none.json
check_json none.json 'j["suspects"] == [] and len(j["rows"]) == 1'
heapstory heap early.hs --json >early.json
check_json early.json 'j["target"]["taken_s"] >= 1 or j["suspects"] == []'
finish

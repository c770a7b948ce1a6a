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
check_json site.json 'j["suspects"][0]["key"].split("(")[0] == "index_user"' \
	'all(set(s) - {"age_spread"} == set(j["rows"][0]) for s in j["suspects"])' \
	'all(0.5 <= s["age_spread"] <= 1 for s in j["suspects"])'
for by in class stack function module file zone thread size age; do
	heapstory heap late.hs --by $by --json >$by.json
	"$PYTHON" -c 'import json, sys
a, b = (json.load(open(f))["suspects"] for f in sys.argv[1:])
sys.exit(a != b)' site.json $by.json || fail "suspects by $by"
done
heapstory heap late.hs --by site --zones --json >zones.json
check_json zones.json '[s["key"].split("(")[0] for s in j["suspects"]] == ["index_user"]'
# as text, and not where there is none, or the life is too short for any
heapstory heap late.hs --by module | sed -n '/^Suspects/,$p' >text
grep -qE '^ *[0-9]+ % +7\.9k +168  index_user' text || fail "text: $(cat text)"
heapstory heap late.hs --function '^note' --json >none.json
check_json none.json 'j["suspects"] == [] and len(j["rows"]) == 1'
heapstory heap early.hs --json >early.json
check_json early.json 'j["target"]["taken_s"] >= 1 or j["suspects"] == []'
finish

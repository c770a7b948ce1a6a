# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# A cache that fills and stops beside a small leak: six snapshots tell them apart.
start c heapstory run -o out -- "$PROGRAMS/plateau"
snap_marks c out 1 2 3 4 5 6
finish_program c || fail "ended with $?"
# rates and times differ from run to run, and with them where lines are broken
heapstory trend [1-6].hs --limit 1g | sed -E '/^(mode|note)/d; /live bytes/d; s/^ +\+[0-9.]+[kmgt] /RATE /; s/[0-9.]+ [KMG]iB an/RATE an/; s/ in( [0-9.]+ (y|d|h|min|s))+/ in TIME/g' |
	tr -s ' \n' ' ' | fold -s -w 90 | sed 's/ $//'
echo
heapstory trend [1-6].hs -n all --json >all.json
check_json all.json '[(r["key"].split()[0], r["shape"], r["confidence"]) for r in j["rows"]] == [("open_handle", "linear", "medium"), ("cache_fill", "plateau", "low")]' \
	'[r["bytes"] for r in j["rows"]] == [[600 * i for i in range(1, 7)], [192000, 384000, 512000, 512000, 512000, 512000]]' \
	'[r["count"] for r in j["rows"]] == [[25 * i for i in range(1, 7)], [1500, 3000, 4000, 4000, 4000, 4000]]' \
	'j["rows"][0]["at_s"] == sorted(j["rows"][0]["at_s"]) and len(set(j["rows"][0]["at_s"])) == 6' \
	'j["rows"][0]["first_growth_s"] == j["rows"][0]["at_s"][1]' \
	'j["rows"][0]["p_not_growing"] < 1e-6 and j["rows"][1]["p_not_growing"] == 1' \
	'j["totals"]["bytes"] == [sum(r["bytes"][i] for r in j["rows"]) for i in range(6)]'
# with five it is a guess, and said to be: all that is larger than at first is a row
heapstory trend [2-6].hs --json >five.json
check_json five.json '[(r["key"].split()[0], r["confidence"]) for r in j["rows"]] == [("open_handle", "low"), ("cache_fill", "low")]' \
	'any("too few" in n for n in j["coverage"]["notes"])'
expect_status 2 heapstory trend 1.hs 2.hs
expect_status 2 heapstory trend
expect_status 2 heapstory trend [1-6].hs --limit much
expect_status 2 heapstory trend [1-6].hs --sort bytes
mkdir none
expect_status 2 heapstory trend none
finish

# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# The limit of a forecast: what --limit says, else the least of the cgroup's and the machine's memory;
# passed already, within reach, or too far away to be foreseen.
start c heapstory run -o out -- "$PROGRAMS/plateau"
snap_marks c out 1 2 3 4 5 6
finish_program c || fail "ended with $?"
heapstory trend [1-6].hs --limit 1m --json >near.json
# 25 of 24 bytes a period: a line through the last points, to 1 MiB of all live bytes
check_json near.json 'j["totals"]["limit_of"] == "--limit" and j["totals"]["limit_bytes"] == 1 << 20' \
	'j["totals"]["forecast"]["limit_bytes"] == 1 << 20' \
	'abs(j["totals"]["at_s"][-1] + ((1 << 20) - j["totals"]["bytes"][-1]) / (j["totals"]["slope_bytes_per_hour"] / 3600) - j["totals"]["forecast"]["at_s"]) < 1' \
	'[r["forecast"]["at_s"] for r in j["rows"] if r["grows"]] == [j["totals"]["forecast"]["at_s"]]'
heapstory trend [1-6].hs --limit 1m >near
tr -s ' \n' ' ' <near | grep -q '1.0 MiB (--limit) will be reached in ' || fail "$(cat near)"
heapstory trend [1-6].hs --limit 100k --json >passed.json
check_json passed.json 'j["totals"]["forecast"]["at_s"] == j["totals"]["at_s"][-1]'
heapstory trend [1-6].hs --limit 100k >passed
tr -s ' \n' ' ' <passed | grep -q 'the program is already above 100.0 KiB (--limit)' || fail "$(cat passed)"
grep -q 'by itself' passed && fail "a row reaches what is passed: $(cat passed)"
heapstory trend [1-6].hs --limit 900000g --json >far.json
check_json far.json 'j["totals"]["forecast"] is None' 'all(r["forecast"] is None for r in j["rows"])'
heapstory trend [1-6].hs --limit 900000g | grep -q 'reached' && fail "foreseen for too far away"
for wrong in 0 -1 much 1x ''; do
	expect_status 2 heapstory trend [1-6].hs --limit "$wrong" 2>/dev/null
done
# without --limit: the program has ended, so it is this cgroup's, or the machine's
heapstory trend [1-6].hs --json >own.json
"$PYTHON" - <<'END'
import json, os
totals = json.load(open("own.json"))["totals"]
machine = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
if not 0 < totals["limit_bytes"] <= machine: print("limit", totals["limit_bytes"], "of", machine)
if (totals["limit_of"] == "all memory of this machine") != (totals["limit_bytes"] == machine): print(totals["limit_of"])
if totals["limit_of"] not in ("all memory of this machine", "the limit of this cgroup"): print(totals["limit_of"])
END
finish

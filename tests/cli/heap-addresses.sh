# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# heap --addresses: patterns of sizes; a pattern that fits nothing says so.
heapstory run -o out -- "$PROGRAMS/vec_growth" </dev/null >/dev/null || fail "run"
rows() { heapstory heap out/exit.hs --addresses "$1" --json -n all >rows.json && json rows.json 'len(j["rows"])'; }
rows '.*[1m+]'
rows '[32m]'
rows '.*[20m-40m]'
check_json rows.json 'j["rows"][0]["size"] == 33554432' 'j["rows"][0]["lineage"]["nr_steps"] == 19' \
	'j["rows"][0]["lineage"]["factor"] == 2' 'j["rows"][0]["lineage"]["inferred"] is False' \
	'j["rows"][0]["lineage"]["born"]["size"] == 64' 'j["rows"][0]["address"].startswith("0x")' \
	'isinstance(j["rows"][0]["serial"], int)'
heapstory heap out/exit.hs --addresses all --json -n all >all.json
check_json all.json 'sum(r["size"] for r in j["rows"]) == j["totals"]["bytes"]' 'len(j["rows"]) == j["totals"]["count"]'
heapstory heap out/exit.hs --addresses '.*[100m+]'
expect_status 2 heapstory heap out/exit.hs --addresses '[x'
expect_status 2 heapstory heap out/exit.hs --addresses '[5-2]'
finish

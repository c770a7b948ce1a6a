# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# off and live while the program runs: known blocks are followed, new ones are not.
start c heapstory run -o out -- "$PROGRAMS/cache_insert"
wait_mark c 1 || finish
heapstory mode cache_insert off || fail "mode off"
go c
wait_mark c 2 || finish
heapstory heap out/store.live --json -n all >off.json
check_json off.json '[r["count"] for r in j["rows"] if "cache_insert" in str(r["key"])] == [200]' 'j["coverage"]["mode"] != "live"'
finish_program c || fail "ended with $?"

start d heapstory run --mode off -o out2 -- "$PROGRAMS/cache_insert"
wait_mark d 1 || finish
heapstory heap out2/store.live --json >off2.json
check_json off2.json 'not any("cache_insert" in str(r["key"]) for r in j["rows"])'
heapstory mode cache_insert live || fail "mode live"
go d
wait_mark d 2 || finish
heapstory heap out2/store.live --json >live.json
check_json live.json '[r["count"] for r in j["rows"] if "cache_insert" in str(r["key"])] == [1000]' \
	'j["coverage"]["share_of_life"] < 1'
finish_program d || fail "ended with $?"
expect_status 2 heapstory mode out2/store.live sample
finish

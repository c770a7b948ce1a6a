# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# heap by every grouping: rows add up, in text and JSON.
heapstory run -o out -- "$PROGRAMS/wrapper" </dev/null >/dev/null || fail "run"
for by in site stack function file module zone thread size age; do
	heapstory heap out/exit.hs --by $by -n all --json >heap.json || fail "--by $by"
	check_json heap.json 'sum(r["bytes"] for r in j["rows"]) == j["totals"]["bytes"]' \
		'sum(r["count"] for r in j["rows"]) == j["totals"]["count"]' 'all("key" in r for r in j["rows"])'
done
heapstory heap out/exit.hs --json -n 1 --by stack >one.json
check_json one.json 'len(j["rows"]) == 1' '[f["function"] for f in j["rows"][0]["stack"]][:3] == ["xmalloc", "load_rows", "main"]' \
	'j["rows"][0]["bytes"] == 56000' 'j["rows"][0]["count"] == 700' \
	'j["schema"] == "heapstory/1" and j["command"] == "heap"' \
	'set(j["coverage"]) >= {"mode", "since_s", "share_of_life", "blocks_without_stack", "events_lost", "unknown_frees", "unexplained_bytes", "notes"}' \
	'set(j["totals"]) >= {"count", "bytes", "peak_bytes", "allocations", "temporary"}' \
	'set(j["rows"][0]["stack"][0]) >= {"function", "module", "offset", "file", "line", "column", "inlined", "address"}' \
	'j["rows"][0]["class"] is None' \
	'[f["line"] for f in j["rows"][0]["stack"]][:2] == [19, 32] and j["rows"][0]["stack"][0]["file"].endswith("/wrapper.c")'
# xmalloc is the site of nothing: who calls it is
COLUMNS=80 heapstory heap out/exit.hs --by site | tail -n 5
heapstory heap out/exit.hs --by function -n all --json >functions.json
check_json functions.json '{r["key"] for r in j["rows"]} >= {"load_rows", "load_columns", "load_index"}' \
	'not any("xmalloc" in r["key"] for r in j["rows"])'
COLUMNS=80 heapstory heap out/exit.hs --by site --wrapper 'load_[rc]*' --wrapper nothing | tail -n 4
heapstory diff out/exit.hs out/exit.hs --wrapper 'load_*' -n all --json >wrapped.json
check_json wrapped.json '[r["key"] for r in j["rows"]] == ["malloc in main"]'
heapstory heap out/exit.hs --function load_rows --json >filtered.json
check_json filtered.json 'sum(r["count"] for r in j["rows"]) == 800'
heapstory heap out/exit.hs --min 100 --json >filtered.json
check_json filtered.json 'sum(r["bytes"] for r in j["rows"] if "load_index" in r["key"]) == 2000'
finish

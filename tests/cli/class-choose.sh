# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Groups, filters and patterns by class.
# a shell in between, which says in c.err that it was killed
run_in_shell() { heapstory run -o out -- "$PROGRAMS/cpp_types" || true; }
start c run_in_shell
wait_mark c 1 || finish
heapstory snap out/store.live -o 1.hs >/dev/null || fail "snap"
kill -KILL "$(pgrep -P "$(traced_pid c)" | head -n 1)"
finish_program c
heapstory heap 1.hs --by class --class 'Circle|Square|.*Hidden' --sort count
heapstory heap 1.hs --addresses 'Circle[64]' --json -n 1 >one.json
check_json one.json 'j["totals"] == {"count": 200, "bytes": 12800}' 'j["rows"][0]["class"] == "Circle"'
heapstory heap 1.hs --addresses 'std::map<.*>[100+]' --json -n 1 >one.json
check_json one.json 'j["totals"]["count"] == 200'
heapstory heap 1.hs --addresses 'Circel' | tail -n 1
heapstory heap 1.hs --addresses 'Circle[100+]' | tail -n 1
# a name of a filter that fits nothing, with each command that filters
heapstory heap 1.hs --class Cirle | tail -n 1
heapstory heap 1.hs --zone cpp_type | tail -n 1
heapstory heap 1.hs --module cpptypes | tail -n 1
heapstory heap 1.hs --function make_objekts | tail -n 1
heapstory heap 1.hs --thread cpp_typos | tail -n 1
heapstory heap 1.hs --class Circle --min 65 | tail -n 1
heapstory heap 1.hs --addresses all --class Cirle | tail -n 1
heapstory heap 1.hs --class Cirle --json >none.json
check_json none.json 'j["rows"] == [] and j["totals"]["count"] == 0'
heapstory largest 1.hs --class 'Squire' | tail -n 1
heapstory largest 1.hs --class 'Circle[65+]' | tail -n 1
heapstory diff 1.hs 1.hs --zone cpp_typesx | tail -n 1
heapstory export 1.hs --class Cirle --format folded -o -
heapstory export 1.hs 1.hs --class Cirle --format folded -o -
heapstory diff 1.hs 1.hs --by class -n all --json >diff.json
check_json diff.json 'any(r["class"] == r["key"] == "Circle" and r["survived"]["count"] == 200 for r in j["rows"])' \
	'sum(r["count"]["after"] for r in j["rows"]) == j["totals"]["count"]["after"]'
# after the kill there are classes from stacks only: those of both sides, then
heapstory diff 1.hs out/exit.hs --by class -n all --json >diff.json
check_json diff.json 'not any(r["key"] == "Circle" for r in j["rows"])' \
	'j["totals"]["survived"]["count"] == j["totals"]["count"]["after"] > 200' \
	'not any(r["resized"]["bytes"] for r in j["rows"])'
heapstory heap 1.hs --by class --zones -n all --json >zones.json
check_json zones.json 'sum(r["count"] for r in j["rows"]) == j["totals"]["count"]'
expect_status 2 heapstory heap 1.hs --class '(x'
finish

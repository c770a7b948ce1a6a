# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Snapshots of four threads that churn are whole; with two readers at once, too.
start churn heapstory run -o out --no-exit-snapshot -- "$PROGRAMS/churn"
wait_mark churn 1 || finish

whole() { # SNAPSHOT: passes check, and its groups add up
	heapstory check "$1" >/dev/null 2>check.err || fail "$1: $(cat check.err)"
	heapstory heap "$1" --by stack -n all --json >heap.json
	check_json heap.json 'sum(r["count"] for r in j["rows"]) == j["totals"]["count"]' \
		'sum(r["bytes"] for r in j["rows"]) == j["totals"]["bytes"]' 'j["totals"]["count"] > 100'
}
# snap FILE: is consistent; each thread may be inside a realloc, whose block is in doubt. On a busy
# machine the threads' deadline may pass, which has to be said; then another one is taken.
snap() {
	local try
	for try in 1 2 3 4 5; do
		heapstory snap out/store.live -o "$1" --json >"$1.json" 2>"$1.err" || fail "snap $1: $(cat "$1.err")"
		json "$1.json" 'j["totals"]["consistent"] is True' && break
		grep -q 'marked as inconsistent' "$1.err" || fail "snap $1, $try: not consistent, and not said"
	done
	check_json "$1.json" 'j["totals"]["consistent"] is True' 'j["totals"]["in_doubt"] <= 4'
}
for i in 1 2 3 4 5 6 7 8 9 10; do
	snap $i.hs
	whole $i.hs
done
for i in 1 2 3 4 5; do
	snap a$i.hs &
	first=$!
	snap b$i.hs
	wait $first
	whole a$i.hs
	whole b$i.hs
done
heapstory diff 1.hs 10.hs --json -n all >diff.json
check_json diff.json 'j["totals"]["born"]["count"] - j["totals"]["freed"]["count"] == j["totals"]["count"]["delta"]' \
	'sum(r["bytes"]["delta"] for r in j["rows"]) == j["totals"]["bytes"]["delta"]' \
	'j["totals"]["born"]["count"] > 0 and j["totals"]["freed"]["count"] > 0'
go churn
finish_program churn || fail "churn ended with $?"
grep -q '^OPS ' churn.out || fail "churn did not end by itself"
finish

# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# diff in CI: rates, accepted growth, verdicts; 0 clean, 1 grew, 2 no verdict.
start c heapstory run -o out -- "$PROGRAMS/cache_insert"
snap_marks c out/store.live 1 2 3
finish_program c || fail "ended with $?"

heapstory diff 1.hs 2.hs --per 500 --unit request --json >per.json
check_json per.json 'j["totals"]["per_unit"] == {"count": 2, "bytes": 96}' \
	'j["target"]["unit"] == "request"' 'j["totals"]["ignored"] is None and j["totals"]["verdict"] is None'
heapstory diff 1.hs 2.hs
heapstory diff 1.hs 2.hs --per 3000 --unit request
echo "-- clean"
expect_status 0 heapstory diff 2.hs 2.hs --exit-code
expect_status 0 heapstory diff 1.hs 2.hs --fail-above 47k
expect_status 0 heapstory diff 1.hs 2.hs --fail-above 48000
echo "-- grew"
expect_status 1 heapstory diff 1.hs 2.hs --exit-code
expect_status 1 heapstory diff 1.hs 2.hs --fail-above 47999
expect_status 1 heapstory diff 1.hs 2.hs --exit-code --by stack
expect_status 1 heapstory diff 1.hs 2.hs --exit-code --by size | tail -n 1
expect_status 1 heapstory diff 1.hs 2.hs --exit-code --by age | tail -n 1 | sed 's/age .*,/age AGE,/'
expect_status 1 heapstory diff 1.hs 2.hs --fail-above 1k --json >grew.json
check_json grew.json 'j["totals"]["verdict"]["failed"] is True' \
	'j["totals"]["verdict"]["limit_bytes"] == 1024' '"cache_insert" in j["totals"]["verdict"]["text"]'
echo "-- accepted"
printf '%s\n' '# what is known' '' 'function cache_ins*   # bounded by the number of keys' \
	'module libold#2* # gone since long' >accepted
expect_status 0 heapstory diff 1.hs 2.hs --ignore accepted --exit-code
heapstory diff 1.hs 2.hs --ignore accepted --json -n all >ignored.json
check_json ignored.json 'j["totals"]["ignored"]["bytes"]["delta"] == 48000' \
	'j["totals"]["ignored"]["count"]["delta"] == 1000' 'j["totals"]["bytes"]["delta"] == 0' \
	'sum(r["count"]["after"] for r in j["rows"]) == j["totals"]["count"]["after"]' \
	'[r["matched"] for r in j["totals"]["ignored"]["rules"]] == [True, False]' \
	'j["totals"]["ignored"]["rules"][0]["reason"] == "bounded by the number of keys"' \
	'j["totals"]["ignored"]["rules"][1]["glob"] == "libold#2*"'
printf '%s\n' 'module cache_inser? # all of it' >accepted
heapstory diff 1.hs 2.hs --ignore accepted --json >ignored.json
check_json ignored.json 'j["totals"]["ignored"]["bytes"]["delta"] == 48000' 'not j["rows"]'
echo "-- no verdict"
expect_status 2 heapstory diff 3.hs 1.hs --exit-code
expect_status 2 heapstory diff 1.hs none.hs --exit-code
expect_status 2 heapstory diff 1.hs 2.hs --fail-above lots
expect_status 2 heapstory diff 1.hs 2.hs --fail-above
expect_status 2 heapstory diff 1.hs 2.hs --unit post
head -c 500 2.hs >cut.hs
expect_status 2 heapstory diff 1.hs cut.hs --exit-code
expect_status 2 heapstory diff 1.hs 2.hs --exit-code --ignore none
printf 'function cache_*\n' >accepted
expect_status 2 heapstory diff 1.hs 2.hs --exit-code --ignore accepted
printf '# good\nfunctions cache_* # why\n' >accepted
expect_status 2 heapstory diff 1.hs 2.hs --exit-code --ignore accepted
printf 'module # why\n' >accepted
expect_status 2 heapstory diff 1.hs 2.hs --exit-code --ignore accepted
[ -e /dev/full ] && expect_status 2 heapstory diff 1.hs 2.hs --exit-code >/dev/full
finish

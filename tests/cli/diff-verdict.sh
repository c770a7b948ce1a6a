# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# diff --per; what later versions bring is refused, not ignored.
start c heapstory run -o out -- "$PROGRAMS/cache_insert"
for mark in 1 2 3; do
	wait_mark c $mark || finish
	heapstory snap out/store.live -o $mark.hs >/dev/null
	go c
done
finish_program c || fail "ended with $?"
expect_status 2 heapstory diff 2.hs 3.hs --exit-code
expect_status 2 heapstory diff 1.hs 2.hs --fail-above 10k
heapstory diff 1.hs 2.hs --per 500 --unit request --json >per.json
check_json per.json 'j["totals"]["per_unit"] == {"count": 2, "bytes": 96}'
heapstory diff 1.hs 2.hs
heapstory diff 2.hs 2.hs
finish

# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# run, snap, mode and refusals as an ordinary user.
user_setup
start c as_user heapstory run -o out -- bin/cache_insert
wait_mark c 1 || finish
as_user heapstory snap cache_insert -o 1.hs >/dev/null || fail "snap"
as_user heapstory mode cache_insert off || fail "mode off"
as_user heapstory mode cache_insert live || fail "mode live"
as_user heapstory list --json >list.json
check_json list.json 'len(j["rows"]) == 1 and j["rows"][0]["name"] == "cache_insert"'
go c
wait_mark c 2 || finish
as_user heapstory snap out -o 2.hs >/dev/null || fail "snap of the folder"
[ "$(id -u)" != 0 ] || expect_status 2 heapstory heap "$(pgrep -n -u 65534 -x cache_insert)"
finish_program c || fail "ended with $?"
as_user heapstory diff 1.hs 2.hs --json >diff.json
check_json diff.json 'any("cache_insert" in str(r["key"]) and r["count"]["delta"] == 1000 for r in j["rows"])'
[ "$(stat -c %a out)" = 700 ] || fail "mode of the folder: $(stat -c %a out)"
[ "$(stat -L -c %a out/store.live)" = 600 ] || fail "mode of the store: $(stat -L -c %a out/store.live)"
expect_status 2 as_user heapstory run -o out3 -- bin/cache_insert_static </dev/null
expect_status 2 as_user heapstory run -o /proc/nothing -- bin/cache_insert </dev/null
mkdir closed && chmod 0 closed
[ "$(id -u)" = 0 ] && chown 65534:65534 closed
expect_status 2 as_user heapstory run -o closed/out -- bin/cache_insert </dev/null
expect_status 2 as_user heapstory snap out -o closed/x.hs
chmod 700 closed
# another user's program and store
if [ "$(id -u)" = 0 ]; then
	start r heapstory run -o "$WORK/roots" -- "$PROGRAMS/cache_insert"
	wait_mark r 1 || finish
	expect_status 2 as_user heapstory snap "$(traced_pid r)" -o r.hs
	pid=$(traced_pid r)
	expect_status 2 as_user heapstory heap "$pid"
	expect_status 2 as_user heapstory history "$pid" 0x1000
	expect_status 2 as_user heapstory mode "$pid" off
	expect_status 2 as_user heapstory supervise "$pid"
	expect_status 2 as_user heapstory heap cache_insert
	expect_status 2 as_user heapstory heap "$WORK/roots/store.live"
	expect_status 2 as_user heapstory heap "$WORK/roots"
	cd "$WORK" || exit 1
	expect_status 2 as_user heapstory heap roots
	expect_status 2 as_user heapstory trend roots
	finish_program r || fail "ended with $?"
fi
finish

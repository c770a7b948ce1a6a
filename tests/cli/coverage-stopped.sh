# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# A store that was full soon covers a part of the life: less and less while the program runs, what
# run says once it has gone, and none where nobody knows how long the program went on.
share='j["coverage"]["share_of_life"]'
limited() { # a store of 4 MiB
	ulimit -f 6000
	exec heapstory run -o out -- "$PROGRAMS/fills"
}
start c limited
wait_mark c 1 || finish
sleep 0.3
heapstory heap fills --json >live.json || fail "live"
check_json live.json "0 < $share < 1" 'any("recording stopped at" in n for n in j["coverage"]["notes"])' \
	'j["coverage"]["events_lost"] > 100000' 'j["coverage"]["mode"] == "stopped"' \
	'0 < j["coverage"]["since_s"] < 60'
heapstory list --json >list.json && check_json list.json 'j["rows"][0]["mode"] == "stopped"'
heapstory heap fills | grep -E '^mode' | sed -E 's/[0-9.]+ %/N %/; s/[0-9]+ events/N events/'
sleep 0.3
heapstory heap fills --json >later.json || fail "later"
"$PYTHON" -c 'import json
a, b = (json.load(open(f))["coverage"]["share_of_life"] for f in ("live.json", "later.json"))
raise SystemExit(not b < a)' || fail "the share did not fall"
kill -KILL "$(traced_pid c)"
finish_program c 2>/dev/null # the shell has a word on it
[ $? = 137 ] || fail "status of SIGKILL"
heapstory heap out/exit.hs --json >exit.json || fail "exit"
check_json exit.json "0 < $share < $(json later.json "$share")"
heapstory heap out/store.live --json >dead.json || fail "store"
check_json dead.json "$share is None"
grep -c 'recording stopped' c.err
finish

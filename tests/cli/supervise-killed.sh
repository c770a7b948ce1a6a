# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# `run` is killed: its program goes on, traced; `supervise` takes over in the same folder.
start c heapstory run -o out -- "$PROGRAMS/cache_insert"
wait_mark c 1 || finish
pid=$(traced_pid c)
disown "${PID[c]}"
kill -KILL "${PID[c]}"
PID[c]=$pid
heapstory heap "$pid" >/dev/null || fail "the program is not traced on"
expect_status 2 heapstory supervise "$pid" -o elsewhere
[ -e elsewhere ] && fail "a folder was made for a refusal"
fd=${FD[c]}
heapstory supervise "$pid" --every 50ms {fd}>&- &
supervisor=$!
until [ -e out/0001.hs ] || ! kill -0 $supervisor 2>/dev/null; do sleep 0.02; done # it looks after it
go c
wait_mark c 2 || finish
exec {fd}>&-
wait $supervisor || fail "supervise ended with $?"
[ -L out/store.live ] && fail "the store did not come home"
heapstory check out/exit.hs >/dev/null || fail "no whole exit snapshot"
heapstory heap out --json >heap.json
check_json heap.json 'any("cache_insert" in str(r["key"]) and r["count"] == 1200 for r in j["rows"])'
ls "$XDG_RUNTIME_DIR/heapstory" # is empty again
finish

# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# redis-server (on jemalloc) filled between two snapshots: the growth is redis's own.
need redis-server
need redis-cli
start_redis() { # FOLDER COMMAND...: in the background, on a unix socket; waits until it answers
	local folder=$1 i
	shift
	mkdir -p "$folder"
	"$@" redis-server --port 0 --unixsocket "$PWD/$folder/sock" --save '' --appendonly no --dir "$PWD/$folder" \
		--daemonize no >"$folder/log" 2>"$folder/err" &
	REDIS=$!
	for ((i = 0; i < 200; i++)); do
		[ "$(redis-cli -s "$folder/sock" ping 2>/dev/null)" = PONG ] && return 0
		kill -0 $REDIS 2>/dev/null || break
		sleep 0.05
	done
	fail "redis does not answer: $(tail -n 3 "$folder/log" "$folder/err")"
	finish
}
fill() { # FOLDER: prints what the server answers, and what it then holds
	"$PYTHON" -c 'for i in range(20000): print("SET key:%d %s" % (i, "v" * (i % 200 + 40)))' |
		redis-cli -s "$1/sock" | sort | uniq -c
	"$PYTHON" -c 'for i in range(5000): print("RPUSH list:%d item%d" % (i % 50, i))' | redis-cli -s "$1/sock" | tail -n 1
	redis-cli -s "$1/sock" get key:777
	redis-cli -s "$1/sock" dbsize
}
end() { # FOLDER: returns the server's status
	redis-cli -s "$1/sock" shutdown nosave
	wait $REDIS
}

start_redis plain env
fill plain >plain.out
end plain
plain=$?

start_redis traced with_count heapstory run -o out --no-exit-snapshot --
heapstory snap out/store.live -o before.hs >/dev/null
fill traced >traced.out
heapstory snap out/store.live -o after.hs >/dev/null
end traced
status=$?
[ $status = $plain ] || fail "status $status, untraced $plain"
diff plain.out traced.out || fail "other answers"
heapstory check before.hs >/dev/null || fail "before.hs is damaged"
heapstory check after.hs >/dev/null || fail "after.hs is damaged"

heapstory diff before.hs after.hs --json -n all >diff.json
check_json diff.json 'j["totals"]["count"]["delta"] > 40000' \
	'sum(r["bytes"]["delta"] for r in j["rows"]) == j["totals"]["bytes"]["delta"]' \
	'j["totals"]["born"]["count"] - j["totals"]["freed"]["count"] == j["totals"]["count"]["delta"]' \
	'j["totals"]["bytes"]["delta"] > 20000 * 139'
heapstory diff before.hs after.hs --json -n all --by module >module.json
check_json module.json 'max(j["rows"], key=lambda r: r["bytes"]["delta"])["key"].startswith("redis-")'
# its background threads are alive at the end
counted out --threads 4
finish

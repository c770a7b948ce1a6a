# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Debug files from a server: only if asked for, kept out of the way if it does not answer.
need debuginfod
mkdir bin debug
cp "$PROGRAMS/cache_insert_stripped" bin/ && cp "$PROGRAMS/cache_insert_stripped.debug" debug/x.debug
heapstory run -o out -- bin/cache_insert_stripped </dev/null >/dev/null || fail "run"
unset DEBUGINFOD_URLS
export DEBUGINFOD_CACHE_PATH=$WORK/cache DEBUGINFOD_TIMEOUT=5
expect_status 2 heapstory heap out/exit.hs --debuginfod

# A server on a port that was free a moment ago; if somebody was quicker, another one.
id=$(readelf -n bin/cache_insert_stripped | awk '/Build ID/ { print $3 }')
has_file() { # PORT
	"$PYTHON" -c 'import sys, urllib.request as u; u.urlopen(sys.argv[1], timeout=5).read(1)' \
		"http://127.0.0.1:$1/buildid/$id/debuginfo" 2>/dev/null
}
start_server() {
	port=$("$PYTHON" -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
	debuginfod -F -p "$port" -d :memory: debug >server.log 2>&1 &
	server=$!
	for ((i = 0; i < 200; i++)); do
		has_file "$port" && return 0
		kill -0 $server 2>/dev/null || return 1
		sleep 0.1
	done
	kill $server
	wait $server
	return 1
}
for _ in 1 2 3; do start_server && break; server=; done
[ -n "$server" ] || { tail -n 3 server.log; skip "debuginfod does not start"; }
trap 'kill $server 2>/dev/null; wait $server' EXIT

names() { json heap.json 'sum(r["stack"][0]["function"] == "cache_insert" for r in j["rows"])'; }
export DEBUGINFOD_URLS=http://127.0.0.1:$port
heapstory heap out/exit.hs --by stack --json >heap.json || fail "heap without it"
echo "not asked for: $(names)"
[ -e cache ] && fail "the server was asked"
heapstory heap out/exit.hs --by stack --json --debuginfod >heap.json || fail "heap --debuginfod"
echo "asked for: $(names)"
kill "$server"
wait "$server"
trap - EXIT
# what was fetched is there still
heapstory heap out/exit.hs --by stack --json --debuginfod >heap.json || fail "heap, no server"
echo "no server any more: $(names)"
# one that does not answer costs no names that are here, and no status
rm -rf cache
timeout 30 heapstory heap out/exit.hs --by stack --json --debuginfod >heap.json || fail "heap, no server, no cache"
echo "nothing kept: $(names)"
finish

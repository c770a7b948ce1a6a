# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# redis-server under a known number of SETs: so many blocks a key, the tables of its dictionary by
# their sizes, and nothing where the same keys are set again.
need redis-server
need redis-cli
mkdir redis
heapstory run -o out --no-exit-snapshot -- redis-server --port 0 --unixsocket "$PWD/redis/sock" --save '' \
	--appendonly no --dir "$PWD/redis" --daemonize no >redis/log 2>redis/err &
redis=$!
ask() { redis-cli -s redis/sock "$@"; }
for ((i = 0; i < 200; i++)); do
	[ "$(ask ping 2>/dev/null)" = PONG ] && break
	sleep 0.05
done
fill() { # FIRST NR
	"$PYTHON" -c 'import sys; first, nr = map(int, sys.argv[1:])
for i in range(first, first + nr): print("SET key:%06d %s" % (i, "v" * 100))' "$1" "$2" | ask | sort | uniq -c | grep -q " $2 OK"
}
# until the dictionary has no second table any more
rehashed() {
	for ((i = 0; i < 200; i++)); do
		ask debug htstats 0 | grep -q 'Hash table 1' || return 0
		ask get key:000000 >/dev/null
		sleep 0.02
	done
	fail "redis does not end its rehashing"
}
snap() { heapstory snap out/store.live -o "$1" >/dev/null; }

fill 0 20000 || fail "SET"
rehashed
snap 1.hs
fill 20000 10000 || fail "SET"
rehashed
snap 2.hs
fill 0 30000 || fail "SET"
snap 3.hs
fill 30000 10000 || fail "SET"
rehashed
snap 4.hs
keys=$(ask dbsize)
[ "$keys" = 40000 ] || fail "$keys keys"
ask shutdown nosave
wait $redis || fail "ended with $?"

# an entry, the key's string, the value's object and its string: at 30000 keys the table still has
# 32768 places
heapstory diff 1.hs 2.hs --per 10000 --unit key --by stack -n all --json >diff.json
check_json diff.json 'abs(j["totals"]["per_unit"]["count"] - 4) < 0.05' \
	'sum(1 for r in j["rows"] if r["count"]["delta"] == 10000) >= 3' \
	'100 < j["totals"]["per_unit"]["bytes"] < 250'
# the same keys again: what is freed is as much as what is born
heapstory diff 2.hs 3.hs --per 30000 --unit key --json >again.json
check_json again.json 'abs(j["totals"]["per_unit"]["count"]) < 0.01' 'abs(j["totals"]["per_unit"]["bytes"]) < 5' \
	'j["totals"]["born"]["count"] > 30000' 'j["totals"]["freed"]["count"] > 30000'
# past 32768 keys the table is made anew, twice as large: 65536 pointers
heapstory heap 3.hs --addresses '[262144]' --json >small.json
heapstory heap 4.hs --addresses '[524288]' --json >large.json
check_json small.json 'len(j["rows"]) >= 1'
check_json large.json 'len(j["rows"]) >= 1'
finish

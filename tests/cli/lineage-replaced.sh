# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Blocks that are replaced do not grow: at most 0.1 % of frees are taken for growth by copying, in
# loops of setters and in redis-server, sqlite3 and python3 (where some of them are true).
judge() { # NAME
	"$PYTHON" "$TOOLS/copies.py" false "$1" "$1.dir/store.live" >"$1.false" || fail "$(cat "$1.false")"
	cat "$1.false" >>figures
	rm -f "$1.dir/store.live"
}
for kind in words same prefix zeroes powers numbers; do
	heapstory run -o $kind.dir --no-exit-snapshot -- "$PROGRAMS/setters" $kind || fail "$kind ended with $?"
	judge $kind
done

cat >work.py <<-'END'
	import collections, json, re
	words = collections.Counter()
	for n in range(20):
	    keep = [{"id": i, "name": "name %d" % i, "tags": ["a", "b", str(i)]} for i in range(1000)]
	    words.update(re.findall(r"\w+", json.dumps(keep)))
	    table = {str(i): [i] * (i % 17) for i in range(2000)}
	    text = " ".join(sorted(words))
	print(len(words), len(table), len(text))
END
PYTHONMALLOC=malloc heapstory run -o python.dir --no-exit-snapshot -- "$PYTHON" work.py >/dev/null || fail "python3 ended with $?"
judge python

if command -v sqlite3 >/dev/null; then
	{
		echo "create table t(id integer primary key, name text, size int); create index i on t(name); begin;"
		for ((i = 0; i < 3000; i++)); do echo "insert into t(name, size) values('name $((i * 7919 % 3000))', $i);"; done
		echo "commit; select count(*), max(length(name)) from t group by size % 7; update t set name = name || 'x';"
		echo "select a.name from t a join t b on a.name = b.name order by a.size desc limit 5;"
	} >work.sql
	heapstory run -o sqlite.dir --no-exit-snapshot -- sqlite3 -init /dev/null :memory: '.read work.sql' >/dev/null ||
		fail "sqlite3 ended with $?"
	judge sqlite
fi

if command -v redis-server >/dev/null && command -v redis-cli >/dev/null; then
	heapstory run -o redis.dir --no-exit-snapshot -- redis-server --port 0 --unixsocket "$PWD/sock" --save '' \
		--appendonly no --daemonize no >redis.log 2>&1 &
	redis=$!
	for ((i = 0; i < 200; i++)); do
		[ "$(redis-cli -s sock ping 2>/dev/null)" = PONG ] && break
		sleep 0.05
	done
	"$PYTHON" -c 'import random
random.seed(1)
for i in range(60000):
    print("SET key:%d %s" % (random.randrange(500), random.choice("abcx") * random.randrange(1, 300)))' |
		redis-cli -s sock >/dev/null
	redis-cli -s sock shutdown nosave
	wait $redis || fail "redis-server ended with $?"
	judge redis
fi
[ -n "${FAILED:-}" ] && cat figures
finish

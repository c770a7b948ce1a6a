# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# sqlite3 with a table in memory: same output, same blocks as the counting preload.
need sqlite3
cat >work.sql <<-'END'
	CREATE TABLE t(id INTEGER PRIMARY KEY, name TEXT, body BLOB);
	WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50000)
	INSERT INTO t SELECT i, 'row ' || i, zeroblob(i % 300) FROM n;
	CREATE INDEX t_name ON t(name);
	DELETE FROM t WHERE id % 7 = 0;
	SELECT count(*), sum(length(body)), max(name) FROM t;
	.exit 3
END
sqlite3 :memory: <work.sql >plain.out 2>&1
plain=$?
with_count heapstory run -o out --no-exit-snapshot -- sqlite3 :memory: <work.sql >traced.out 2>traced.err
status=$?
[ $status = $plain ] || fail "status $status, untraced $plain"
cmp plain.out traced.out || fail "other output"
counted out
finish

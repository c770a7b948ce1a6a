# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# A program that execs another in its own pid goes on being traced; the old store is kept.
cat >shim.sh <<END
#!/bin/sh
exec "$PROGRAMS/cache_insert" "\$@"
END
chmod +x shim.sh
heapstory run -o out -- ./shim.sh </dev/null >/dev/null || fail "ended with $?"
heapstory heap out/exit.hs --json >heap.json
check_json heap.json 'j["target"]["name"] == "cache_insert"' \
	'any("cache_insert" in str(r["key"]) and r["count"] == 1200 for r in j["rows"])'
heapstory run --exec -o out2 -- "$PROGRAMS/cache_insert" </dev/null >/dev/null || fail "--exec ended with $?"
for ((i = 0; i < 100; i++)); do
	[ -e out2/exit.hs ] && break
	sleep 0.05
done
heapstory heap out2/exit.hs --json >heap2.json
check_json heap2.json 'any("cache_insert" in str(r["key"]) and r["count"] == 1200 for r in j["rows"])'
finish

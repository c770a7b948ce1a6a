# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Mappings of a program that is killed while four threads map and unmap: the store has what the
# program's own journal has, but for the one call that each thread was in. And of a followed child.
for i in {1..25}; do
	# in a shell of its own, which has a word on what is killed
	(heapstory run -o killed --no-exit-snapshot -- "$PROGRAMS/mappings_kill" journal $((i * 997)); true) 2>/dev/null
	heapstory heap killed --kind mapping --json >killed.json || fail "store of run $i"
	"$PYTHON" - <<'END' || fail "run $i"
import json, struct
totals = json.load(open('killed.json'))['totals']
journal = struct.unpack('<8q', open('journal', 'rb').read(64))
count, units = sum(journal[0::2]), sum(journal[1::2])
# the journal's own mapping is one of them
count_off, bytes_off = totals['count'] - 1 - count, totals['bytes'] - 4096 - units * 65536
if abs(count_off) > 4 or bytes_off % 65536 or abs(bytes_off) > 4 * 32 * 65536:
    raise SystemExit('journal %d mappings, %d units; store %r' % (count, units, totals))
END
	rm -rf killed
done
heapstory run -o out --follow-children -- "$PROGRAMS/mappings_kill" || fail "ended with $?"
heapstory heap out/exit.hs --kind mapping --by function --json >parent.json
heapstory heap out/child.*/exit.hs --kind mapping --by stack --json >child.json
check_json parent.json '[j["totals"]["count"], j["totals"]["bytes"]] == [1, 16 << 16]'
check_json child.json 'sorted(r["bytes"] for r in j["rows"]) == [8 << 16, 32 << 16]'
finish

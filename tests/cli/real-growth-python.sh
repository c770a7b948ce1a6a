# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# A python3 that appends to a list for ever: the list's one buffer, its growth by realloc and the
# objects in it, against what the program itself says.
cat >append.py <<'END'
import sys
def step(keep, nr):
    for i in range(nr):
        keep.append("%05d" % i * 64)
def mark(n):
    print("MARK", n, flush=True)
    sys.stdin.readline()
keep = []
step(keep, 1000)
mark(1)
step(keep, 30000)
print("BUFFER", sys.getsizeof(keep) - sys.getsizeof([]), "EACH", sys.getsizeof(keep[7]), flush=True)
mark(2)
END
export PYTHONMALLOC=malloc PYTHONHASHSEED=0
start p heapstory run -o out --no-exit-snapshot -- "$PYTHON" append.py
snap_marks p out/store.live 1 2
finish_program p || fail "ended with $?"
read -r _ buffer _ each < <(grep BUFFER p.out)

heapstory diff 1.hs 2.hs --per 30000 --unit append --by stack -n all --json >diff.json
check_json diff.json 'abs(j["totals"]["per_unit"]["count"] - 1) < 0.002' \
	"abs(j['totals']['per_unit']['bytes'] - $each - $buffer / 31000) < 10" \
	"max(r['count']['delta'] for r in j['rows']) == 30000" \
	"max(r['bytes']['delta'] for r in j['rows']) == 30000 * $each"
heapstory largest 2.hs -n 1 --json >largest.json
check_json largest.json "j['rows'][0]['size'] == $buffer" \
	'j["rows"][0]["lineage"]["nr_steps"] > 20' 'j["rows"][0]["lineage"]["inferred"] is False' \
	'1.05 < j["rows"][0]["lineage"]["factor"] < 1.3' \
	'j["rows"][0]["lineage"]["steps"][-1]["size"] == j["rows"][0]["size"]'
heapstory diff 1.hs 2.hs --fail-above 1m >/dev/null
[ $? = 1 ] || fail "growth of megabytes is clean"
finish

# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# --raw-names shows the linker's names of a snapshot that has its names in it, too, and changes
# nothing else: baked or not, raw or not, the rows are the same.
mkdir bin && cp "$PROGRAMS/strings_grow" bin/
start s heapstory run -o out -- bin/strings_grow
wait_mark s 1 || finish
mv bin/strings_grow bin/gone
heapstory snap out/store.live -o 1.hs >/dev/null || fail "snap of a deleted program"
mv bin/gone bin/strings_grow
go s
wait_mark s 2 || finish
heapstory snap out/store.live -o 2.hs >/dev/null || fail "snap"
go s
wait_mark s 3 || finish
heapstory snap out/store.live -o 3.hs >/dev/null || fail "snap"
finish_program s || fail "ended with $?"
heapstory symbolize 2.hs -o baked.hs >/dev/null || fail "symbolize"
heapstory check baked.hs | grep -q ' raw names$' || fail "no raw names in the snapshot"
expect_status 2 heapstory symbolize 2.hs --raw-names -o refused.hs 2>/dev/null

raw() { grep -cE '(^|[ "])_Z[A-Z0-9]' "$1"; }
for by in site function stack class; do
	heapstory heap 2.hs --by $by -n all --json --raw-names >$by.unbaked || fail "heap --by $by"
	heapstory heap baked.hs --by $by -n all --json --raw-names >$by.baked || fail "heap --by $by, baked"
	heapstory heap baked.hs --by $by -n all --json >$by.plain || fail "heap --by $by, plain"
	[ "$(raw $by.baked)" -gt 0 ] || fail "--by $by: no raw names"
	[ "$(raw $by.plain)" = 0 ] || fail "--by $by: raw names where people read"
	"$PYTHON" - $by <<-'END'
		import json, sys
		unbaked, baked, plain = (json.load(open(f"{sys.argv[1]}.{w}")) for w in ("unbaked", "baked", "plain"))
		if unbaked["rows"] != baked["rows"]: print(sys.argv[1], "differs where names are baked")
		numbers = lambda j: sorted((r["count"], r["bytes"]) for r in j["rows"])
		if numbers(plain) != numbers(baked): print(sys.argv[1], "has other rows with raw names")
	END
done
[ "$(heapstory heap 1.hs --by site -n all --raw-names --json | raw /dev/stdin)" -gt 0 ] ||
	fail "no raw names in a snapshot of a deleted program"

# sites of a snapshot with names and of one without are the same sites
for raw in '' --raw-names; do
	heapstory diff 2.hs baked.hs --by site -n all $raw --json >same.json || fail "diff $raw"
	check_json same.json 'all(r["bytes"]["delta"] == 0 and r["survived"]["count"] for r in j["rows"])'
	heapstory diff 1.hs baked.hs --by site -n all $raw --json >"grew$raw.json" || fail "diff of two $raw"
done
"$PYTHON" - <<-'END'
	import json
	plain, raw = (json.load(open(f)) for f in ("grew.json", "grew--raw-names.json"))
	strip = lambda j: [r["bytes"] for r in j["rows"]]
	if strip(plain) != strip(raw): print("diff has other rows with raw names")
END
[ "$(raw grew--raw-names.json)" -gt 0 ] || fail "diff: no raw names"

# all other commands that have the option
heapstory largest baked.hs --function push_chars --raw-names >largest.raw || fail "largest"
heapstory largest baked.hs --function push_chars --json >largest.json || fail "largest --json"
heapstory history baked.hs "$(json largest.json 'j["rows"][0]["address"]')" --raw-names >history.raw || fail "history"
heapstory trend 1.hs baked.hs 3.hs -n all --raw-names --json >trend.raw || fail "trend"
heapstory export baked.hs --raw-names --format folded -o folded || fail "export"
sed -i 's/;/ /g' folded
for out in largest.raw history.raw trend.raw folded; do
	[ "$(raw $out)" -gt 0 ] || fail "$out: no raw names"
done
# a filter fits the names as they are shown and as people write them
for function in _ZN 'main|std::'; do
	heapstory heap baked.hs --function "$function" --raw-names >filtered || fail "--function $function"
	grep -q total filtered || fail "--function $function: $(cat filtered)"
done

# a snapshot from before there were raw names in it
old=$TESTS/golden/v1/names-not-raw.hs
heapstory check "$old" >/dev/null || fail "check of an older one"
heapstory heap "$old" --by function --json --raw-names >old.json || fail "heap of an older one"
check_json old.json 'any(r["key"] == "long* app::keep<long>(unsigned int)" for r in j["rows"])' \
	'any("not raw" in n for n in j["coverage"]["notes"])'
# and one in which an older version put raw names alone: they are demangled
old=$TESTS/golden/v1/names-raw.hs
heapstory heap "$old" --by function --json >raw.json || fail "heap of an older one with raw names"
check_json raw.json 'any(r["key"] == "long* app::keep<long>(unsigned int)" for r in j["rows"])'
heapstory heap "$old" --by function --json --raw-names >raw.json
check_json raw.json 'any(r["key"] == "_ZN3app4keepIlEEPT_j" for r in j["rows"])' \
	'not any("not raw" in n for n in j["coverage"]["notes"])'
heapstory symbolize "$old" -o again.hs >/dev/null 2>&1 || fail "symbolize of an older one with raw names"
heapstory check again.hs | grep -q ' raw names$' || fail "no raw names of an older one"
old=$TESTS/golden/v1/names-not-raw.hs
heapstory heap "$old" --json >old.json
check_json old.json 'not any("not raw" in n for n in j["coverage"]["notes"])'
finish

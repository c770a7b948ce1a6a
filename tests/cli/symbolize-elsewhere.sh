# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# A snapshot with names put in is read where the program's files are not: same report.
mkdir bin && cp "$PROGRAMS"/cache_insert_stripped* "$PROGRAMS/wrapper" bin/
heapstory run -o out -- bin/cache_insert_stripped </dev/null >/dev/null || fail "run"
heapstory heap out/exit.hs --by stack -n all --json >before.json || fail "heap"
check_json before.json 'any(r["stack"][0]["function"] == "cache_insert" for r in j["rows"])'
heapstory symbolize out/exit.hs -o baked.hs >said || fail "symbolize"
cut -d: -f2- said | sed 's/[0-9]\+/N/g'
heapstory check baked.hs >/dev/null || fail "check"
mv bin gone
heapstory heap baked.hs --by stack -n all --json >after.json || fail "heap of the baked one"
"$PYTHON" - <<-'END'
	import json
	a, b = json.load(open("before.json")), json.load(open("after.json"))
	if a["rows"] != b["rows"] or a["totals"] != b["totals"]: print("the rows differ")
	if any("no names" in n for n in b["coverage"]["notes"]): print(b["coverage"]["notes"])
END
heapstory heap out/exit.hs --by stack -n all --json >without.json
check_json without.json 'not any(r["stack"][0]["function"] == "cache_insert" for r in j["rows"])' \
	'any("no names" in n for n in j["coverage"]["notes"])'
# in place; what cannot be found again stays
cp baked.hs again.hs
heapstory symbolize again.hs >/dev/null || fail "symbolize again"
heapstory heap again.hs --by stack -n all --json >again.json
"$PYTHON" -c 'import json; print(json.load(open("again.json"))["rows"] == json.load(open("before.json"))["rows"])'
# with debug files in a folder of the user's
heapstory symbolize out/exit.hs --debug-dir gone -o dir.hs >/dev/null 2>notes || fail "symbolize with --debug-dir"
grep -c 'no names of functions' notes
# damage of the names is found, and a reader that does not need them refuses all the same
"$PYTHON" - "$BUILD/heapstory" <<-'END'
	import subprocess, sys
	out = subprocess.run([sys.argv[1], "check", "baked.hs", "--json"], capture_output=True, text=True).stdout
	import json
	row = [r for r in json.loads(out)["rows"] if r["chunk"] == "names"][0]
	data = bytearray(open("baked.hs", "rb").read())
	data[row["offset"] + row["bytes"] // 2] ^= 1
	open("bad.hs", "wb").write(data)
END
expect_status 2 heapstory check bad.hs >/dev/null 2>&1
expect_status 2 heapstory heap bad.hs >/dev/null 2>&1
expect_status 2 heapstory symbolize out/store.live
expect_status 2 heapstory symbolize
finish

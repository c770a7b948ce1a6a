# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# A diff by class where only one side could look at the objects: both sides have the classes of their
# stacks, so that a row's numbers are those of `heap`, and text, verdict and JSON name the same group.
start c heapstory run -o out -- "$PROGRAMS/classes_lost"
wait_mark c 1 || finish
heapstory snap out/store.live -o 1.hs >/dev/null
go c
wait_mark c 2 || finish
heapstory snap out/store.live -o 2.hs >/dev/null
go c
finish_program c || fail "ended with $?"
heapstory heap 1.hs --by class --json -n all >1.hs.json
heapstory heap out/exit.hs --by class --json -n all >exit.hs.json
check_json 1.hs.json 'any(r["key"] == "V" for r in j["rows"])'
check_json exit.hs.json 'not any(r["key"] == "V" for r in j["rows"])'
for pair in '1.hs out/exit.hs' 'out/exit.hs 1.hs'; do
	# shellcheck disable=SC2086 # two files
	heapstory diff $pair --by class --json -n all >diff.json
	[ "$pair" = '1.hs out/exit.hs' ] && side=after || side=before
	"$PYTHON" - "$side" <<-'END' || fail "$pair: not what heap says"
		import json, sys
		side = sys.argv[1]
		heap = {r["key"]: [r["count"], r["bytes"]] for r in json.load(open("exit.hs.json"))["rows"]}
		d = json.load(open("diff.json"))
		rows = {r["key"]: [r["count"][side], r["bytes"][side]] for r in d["rows"] if r["count"][side]}
		if heap != rows: sys.exit("%r\n%r" % (heap, rows))
		# what came and went by turns did not grow
		made = [r for r in d["rows"] if "make" in r["key"]]
		if [r["bytes"]["delta"] for r in made] != [0]: sys.exit("%r" % made)
		for r in d["rows"]:
		    if r["kind"] == "malloc" and r["key"].startswith("malloc in "):
		        name = r["key"][len("malloc in "):].split("(")[0]
		        if not any(name == (f["function"] or "").split("(")[0] for f in r["stack"]) and r["stack"][0]["function"]:
		            sys.exit("stack of another row: %r" % r)
		if not any("so on both sides" in n for n in d["coverage"]["notes"]): sys.exit("no note: %r" % d["coverage"])
	END
done
heapstory diff 1.hs out/exit.hs --fail-above 1m >text
grep -q '^+3.8m .*malloc in grower' text || fail "text: $(cat text)"
grep -q '^GREW: .*most in malloc in grower' text || fail "verdict: $(cat text)"
check_json diff.json '[r["bytes"]["after"] for r in j["rows"] if r["key"].startswith("malloc in grower")] == [0]'
# both sides know: the objects have their class in both
heapstory diff 1.hs 2.hs --json -n all >known.json
check_json known.json '[(r["count"]["before"], r["count"]["after"]) for r in j["rows"] if r["key"] == "V"] == [(5, 5)]'
finish

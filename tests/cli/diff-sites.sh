# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Blocks of one place in the source are one site, whatever it was inlined into and wherever the calls
# return to; --by stack tells them apart.
truth inlined_site
start c heapstory run -o out -- "$PROGRAMS/inlined_site"
snap_marks c out/store.live 1 2
finish_program c || fail "ended with $?"
heapstory diff 1.hs 2.hs --by site --json -n all >site.json
check_json site.json 'sorted(r["count"]["delta"] for r in j["rows"]) == [7, 400]' \
	'[r["stacks"] > 12 for r in j["rows"] if r["count"]["delta"] == 400] == [True]'
heapstory diff 1.hs 2.hs --by function --json -n all >function.json
check_json function.json 'sorted(r["count"]["delta"] for r in j["rows"]) == [7, 400]'
heapstory diff 1.hs 2.hs --by file --json -n all >file.json
check_json file.json '[r["key"].split("/")[-1] for r in j["rows"] if r["count"]["delta"]] == ["inlined_site.c"]' \
	'j["rows"][0]["count"]["delta"] == 407'
heapstory diff 1.hs 2.hs --by stack --json -n all >stack.json
# loop() four times, twice() two times, deeper() at ten depths, plain()
check_json stack.json '16 <= len([r for r in j["rows"] if r["stack"][0]["function"] == "note_new"]) <= 19' \
	'sum(r["count"]["delta"] for r in j["rows"]) == 407'
heapstory diff 1.hs 2.hs
finish

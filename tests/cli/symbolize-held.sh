# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# A program and its library are replaced on disk while it runs: exit.hs, which is made when the
# process has gone, has the names of both, since run held their files open.
user_setup
cp "$PROGRAMS/upgrade_self" "$PROGRAMS/plug_a.so" bin/
names() { # FOLDER
	$2 heapstory check "$1/exit.hs" >check.out || fail "check"
	grep -q ' names$' check.out || fail "no names in exit.hs"
	$2 heapstory heap "$1/exit.hs" --by stack -n all --json >heap.json
	check_json heap.json \
		'any([f["function"] for f in r["stack"][:2]] == ["after_upgrade", "main"] and r["count"] == 150 for r in j["rows"])' \
		'any(r["stack"][0]["function"] == "plug_a_keep" and r["count"] >= 300 for r in j["rows"])' \
		'not any("upgrade_self" in n for n in j["coverage"]["notes"])'
}
start u as_user heapstory run -o out -- bin/upgrade_self
wait_mark u 1 || finish
wait_held u 'upgrade_self\.[0-9]*\.so'
go u
wait_mark u 2 || finish
finish_program u || fail "ended with $?"
names out as_user
start r heapstory run -o "$WORK/again" -- bin/upgrade_self
wait_mark r 1 || finish
wait_held r 'upgrade_self\.[0-9]*\.so'
go r
wait_mark r 2 || finish
finish_program r || fail "ended with $?"
names "$WORK/again" ''
finish

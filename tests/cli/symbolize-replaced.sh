# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# A program and its library are replaced on disk: names of the program are in the snapshot at once,
# and so are the library's where the kernel lets us read it; where not, that is said.
user_setup
cp "$PROGRAMS/upgrade_self" "$PROGRAMS/plug_a.so" bin/
start u as_user heapstory run -o out -- bin/upgrade_self
wait_mark u 1 || finish
go u
wait_mark u 2 || finish
as_user heapstory snap out/store.live -o two.hs >/dev/null || fail "snap"
as_user heapstory check two.hs >check.out || fail "check"
grep -q ' names$' check.out || fail "no names in the snapshot"
as_user heapstory snap out/store.live -o three.hs >/dev/null || fail "second snap"
finish_program u || fail "ended with $?"
as_user heapstory heap two.hs --by stack -n all --json >heap.json
check_json heap.json \
	'any([f["function"] for f in r["stack"][:2]] == ["after_upgrade", "main"] and r["count"] == 150 for r in j["rows"])' \
	'not any(f["function"] and f["function"] != "plug_a_keep" for r in j["rows"] for f in r["stack"] if (f["module"] or "").endswith(".so") and "upgrade" in f["module"])'

# one without a build id: its names are in the snapshot before it is gone, and never another file's
cp "$PROGRAMS/cache_insert" bin/plain
objcopy --remove-section .note.gnu.build-id bin/plain
start n as_user heapstory run -o none -- bin/plain
wait_mark n 1 || finish
wait_held n '/plain$'
cp "$PROGRAMS/ends" bin/other
mv bin/other bin/plain
as_user heapstory snap none/store.live -o none.hs >/dev/null || fail "snap without a build id"
finish_program n || fail "ended with $?"
for hs in none.hs none/exit.hs; do
	heapstory heap $hs --by stack -n all --json >none.json
	check_json none.json 'any([f["function"] for f in r["stack"]][0] == "cache_insert" for r in j["rows"])'
done
# read again where only the other file is
heapstory heap none/store.live --by stack -n all --json >store.json
check_json store.json \
	'not any(f["function"] for r in j["rows"] for f in r["stack"] if (f["module"] or "").endswith("plain"))' \
	'any("another file than the one that was loaded" in n for n in j["coverage"]["notes"])'

if [ "$(id -u)" = 0 ]; then
	# as root the library is read too
	start r heapstory run -o "$WORK/root" -- bin/upgrade_self
	wait_mark r 1 || finish
	go r
	wait_mark r 2 || finish
	heapstory snap "$WORK/root/store.live" -o root.hs >/dev/null || fail "snap as root"
	finish_program r || fail "ended with $?"
	heapstory heap root.hs --by stack -n all --json >root.json
	check_json root.json 'any(r["stack"][0]["function"] == "plug_a_keep" and r["count"] >= 300 for r in j["rows"])'
	# as another user it was refused, and the report says so
	check_json heap.json 'any("upgrade_self" in n and ".so" in n for n in j["coverage"]["notes"])'
fi
finish

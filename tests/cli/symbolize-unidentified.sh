# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# A library without a build id is replaced by another one of the same layout: its names are never
# those of the other. The kernel says which file is mapped; where nothing does, there is no name.
user_setup
program=$PWD/program
cp "$PROGRAMS/upgrade_self" "$program"
objcopy --remove-section .note.gnu.build-id "$PROGRAMS/plug_a.so" "$program.so"
objcopy --remove-section .note.gnu.build-id "$PROGRAMS/plug_b.so" plug_b.so
names() { # FILE EXPRESSION...: of what the library's frames are called, "of"
	local file=$1
	shift
	heapstory heap "$file" --by stack -n all --json >heap.json || fail "heap $file"
	for e; do
		check_json heap.json "[$e for of in [[f['function'] for r in j['rows'] for f in r['stack']
			if (f['module'] or '').endswith('/program.so')]]][0]"
	done
}
# the same is said of every report that would have had the other's name
none='of and not any(of) and any("another file than the one that was loaded" in n for n in j["coverage"]["notes"])'
start u as_user heapstory run -o out -- "$program" "$program"
wait_mark u 1 || finish
as_user heapstory snap out/store.live -o before.hs >/dev/null || fail "snap"
names before.hs 'of and all(f == "plug_a_keep" for f in of)'
go u
wait_mark u 2 || finish
cp plug_b.so aside && mv aside "$program.so"
names before.hs "$none"
as_user heapstory snap out/store.live -o after.hs >/dev/null || fail "snap after it was replaced"
if [ "$(id -u)" = 0 ]; then
	names after.hs "$none"
	heapstory snap out/store.live -o root.hs >/dev/null || fail "snap as root"
	names root.hs 'of and all(f == "plug_a_keep" for f in of)'
fi
finish_program u || fail "ended with $?"
# as the process has gone, and somebody puts the other library there again
cp plug_b.so "$program.so"
names out/exit.hs 'of and not "plug_b_keep" in of'
names out/store.live 'of and not any(of)' \
	'any("was changed after it was loaded" in n for n in j["coverage"]["notes"])'
finish

# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Libraries without a build id: the one that is mapped is told from another file at its path by its
# inode, one that was unloaded by the time its path was changed. No name is another file's.
user_setup
for file in dl_plugin plug_a.so plug_b.so; do
	objcopy --remove-section .note.gnu.build-id "$PROGRAMS/$file" bin/$file || fail "objcopy"
done
chown -R --reference=bin bin 2>/dev/null
replace() { # FILE: by one with other functions at the same places
	sed 's/plug_[ab]_keep/plug_x_keep/g' bin/"$1" >bin/new && cat bin/new >bin/newer && mv bin/newer bin/"$1" && rm bin/new
}
names() { # FILE SIZE
	json "$1" "print(*sorted({r['stack'][0]['function'] or 'no name' for r in j['rows'] if r['bytes'] == $2}))" | grep -v None
}
start p as_user heapstory run -o out -- bin/dl_plugin
wait_mark p 1 || finish
go p
wait_mark p 2 || finish
as_user heapstory snap out/store.live -o unloaded.hs >/dev/null || fail "snap"
as_user heapstory heap unloaded.hs --by stack -n all --json >heap.json 2>err || fail "heap"
echo "before: $(names heap.json 12000)"
sleep 0.1
replace plug_a.so
go p
wait_mark p 3 || finish
replace plug_b.so
as_user heapstory snap out/store.live -o replaced.hs >/dev/null || fail "snap of what was replaced"
finish_program p || fail "ended with $?"
for hs in unloaded.hs replaced.hs; do
	heapstory heap $hs --by stack -n all --json >heap.json 2>err || fail "heap $hs"
	echo "$hs: $(names heap.json 12000), $(names heap.json 5600)"
	json heap.json "print(*sorted(n.split(\"'\")[-1] for n in j['coverage']['notes'] if 'plug_' in n), sep='\n')" | grep -v None
done
# the second one's file was held open, if there was time
heapstory heap out/exit.hs --by stack -n all --json >heap.json || fail "heap exit.hs"
[ "$(names heap.json 12000)" = "no name" ] || fail "exit.hs: $(names heap.json 12000)"
case $(names heap.json 5600) in
plug_b_keep | "no name") ;;
*) fail "exit.hs: $(names heap.json 5600)" ;;
esac
finish

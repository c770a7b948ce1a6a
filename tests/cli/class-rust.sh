# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Classes of a Rust program's blocks are what it says they are.
for name in rust_types rust_services; do
	[ -e "$PROGRAMS/$name" ] || skip "tests/programs/$name is not built"
	start $name heapstory run -o $name.run -- "$PROGRAMS/$name"
	wait_mark $name 1 || finish
	heapstory snap $name.run/store.live -o $name.hs >/dev/null || fail "snap $name"
	finish_program $name || fail "$name ended with $?"
	heapstory heap $name.hs --addresses all -n all --json >$name.json || fail "heap $name"
	"$PYTHON" "$TOOLS/classes.py" $name.out $name.json >said || { fail "classes: $name"; cat said; }
done
finish

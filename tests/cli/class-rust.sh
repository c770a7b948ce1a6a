# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Classes of a Rust program's blocks are what it says they are.
[ -e "$PROGRAMS/rust_types" ] || skip "tests/programs/rust_types is not built"
start r heapstory run -o out -- "$PROGRAMS/rust_types"
wait_mark r 1 || finish
heapstory snap out/store.live -o 1.hs >/dev/null || fail "snap"
finish_program r || fail "ended with $?"
heapstory heap 1.hs --addresses all -n all --json >1.json || fail "heap"
"$PYTHON" "$TOOLS/classes.py" r.out 1.json >said || { fail "classes"; cat said; }
finish

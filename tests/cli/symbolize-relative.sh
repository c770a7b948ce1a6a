# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# A library by a path that is relative to the program's folder: its names are in the snapshot, which
# may be read anywhere.
mkdir -p here/lib elsewhere
cp "$PROGRAMS/dl_plugin" here/ && cp "$PROGRAMS"/plug_[ab].so here/lib/
cd here || exit 1
start p env LD_LIBRARY_PATH=lib heapstory run -o out -- ./dl_plugin
wait_mark p 1 || finish
go p
wait_mark p 2 || finish
go p
wait_mark p 3 || finish
heapstory snap out/store.live -o three.hs >/dev/null || fail "snap"
finish_program p || fail "ended with $?"
cd ../elsewhere || exit 1
heapstory heap ../here/three.hs --by stack -n all --json >heap.json || fail "heap"
check_json heap.json 'any((f["module"] or "").startswith("lib/plug_b") for r in j["rows"] for f in r["stack"])' \
	'any(r["stack"][0]["function"] == "plug_b_keep" and r["bytes"] == 5600 for r in j["rows"])'
finish

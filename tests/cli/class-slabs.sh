# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# A slab is not of the class of the first object in it; a large object is of its own.
start s heapstory run -o out -- "$PROGRAMS/slabs"
wait_mark s 1 || finish
heapstory snap out/store.live -o 1.hs >/dev/null || fail "snap"
finish_program s || fail "ended with $?"
heapstory heap 1.hs --by class --min 4096 --function make_
heapstory heap out/exit.hs --by class --min 4096 --function make_ | tail -n 3
truth slabs
finish

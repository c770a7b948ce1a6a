# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Under tcmalloc: the store equals the counting preload.
export ALLOCATOR=libtcmalloc_minimal.so.4
for program in cache_insert prod_cons vec_growth; do
	"$PROGRAMS/$program" </dev/null >plain.out
	with_count heapstory run -o $program --no-exit-snapshot -- "$PROGRAMS/$program" </dev/null >traced.out ||
		fail "$program ended with $?"
	cmp plain.out traced.out || fail "$program prints something else"
	counted $program
done
finish

# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# What diff tells of how a buffer grew is of one that grew in between, not of a larger one that had
# grown before; where none did, nothing is told.
cat >buffers.c <<'END'
#include <stdlib.h>
#include "mark.h"
static char *large, *small;
NOINLINE static char *grow(char *p, size_t size) { return realloc(p, size); }
NOINLINE static void before(void) { for (size_t n = 64; n <= 1 << 20; n *= 2) large = grow(large, n); }
NOINLINE static void between(void) { for (size_t n = 32; n <= 1 << 12; n *= 2) small = grow(small, n); }
int main(void)
{
	before();
	mark(1);
	between();
	mark(2);
	sink = malloc(100000);
	mark(3);
	return 0;
}
END
gcc -O0 -I"$TESTS/programs" -o buffers buffers.c || fail "buffers.c"
start b heapstory run -o out -- ./buffers
for n in 1 2 3; do
	wait_mark b $n || finish
	heapstory snap out/store.live -o $n.hs >/dev/null || fail "snap $n"
	go b
done
finish_program b || fail "ended with $?"
for by in module site; do
	heapstory diff 1.hs 2.hs --by $by --json >diff.json
	check_json diff.json 'len(j["rows"]) == 1 and j["rows"][0]["lineage"]["born"]["size"] == 32'
	COLUMNS=80 heapstory diff 1.hs 2.hs --by $by | sed -n '/DELTA/,$p'
done
COLUMNS=80 heapstory diff 2.hs 3.hs --by module | sed -n '/DELTA/,$p'
finish

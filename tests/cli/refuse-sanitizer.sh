# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# A program built with AddressSanitizer: refused before it starts; --anyway runs it untraced.
echo 'int main(void) { return 7; }' >m.c
gcc -fsanitize=address -o asan m.c 2>/dev/null || skip "no libasan"
expect_status 2 heapstory run -o out -- ./asan </dev/null
[ -e out ] && fail "an output folder was left behind"
expect_status 7 heapstory run --anyway -o out2 -- ./asan </dev/null
# linked into the program, where nothing is exported; with symbols and without
for kind in address thread leak; do
	gcc -fsanitize=$kind -static-lib${kind:0:1}san -o own m.c 2>/dev/null || skip "no static lib${kind:0:1}san"
	expect_status 2 heapstory run -o out -- ./own </dev/null
	strip own
	[ $kind = thread ] || expect_status 2 heapstory run -o out -- ./own </dev/null
done
# one that leaves malloc alone
gcc -fsanitize=undefined -static-libubsan -o ubsan m.c || fail "ubsan"
expect_status 7 heapstory run -o out3 -- ./ubsan </dev/null
finish

# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# A program built with AddressSanitizer: refused before it starts; --anyway runs it untraced.
echo 'int main(void) { return 7; }' >m.c
gcc -fsanitize=address -o asan m.c 2>/dev/null || skip "no libasan"
expect_status 2 heapstory run -o out -- ./asan </dev/null
[ -e out ] && fail "an output folder was left behind"
expect_status 7 heapstory run --anyway -o out2 -- ./asan </dev/null
finish

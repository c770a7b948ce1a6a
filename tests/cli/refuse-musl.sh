# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# A program for another C library.
[ -e "$PROGRAMS/cache_insert_musl" ] || skip "no musl-gcc"
cp "$PROGRAMS/cache_insert_musl" musl
expect_status 2 heapstory run -o out -- ./musl </dev/null
[ -e out ] && fail "an output folder was left behind"
expect_status 0 heapstory run --anyway -o out2 -- ./musl </dev/null
finish

# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# A static program: refused before it starts; --anyway runs it untraced.
P=$PROGRAMS/cache_insert_static
cp "$P" static
expect_status 2 heapstory run -o out -- ./static </dev/null
[ -e out ] && fail "an output folder was left behind"
expect_status 0 heapstory run --anyway -o out2 -- ./static </dev/null
expect_status 2 heapstory env -o out3 -- ./static
finish

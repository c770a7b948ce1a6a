# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# A command that is not there or not a program.
expect_status 2 heapstory run -o out -- ./no-such-program
expect_status 2 heapstory run -o out -- no-such-program-anywhere
echo data >data
expect_status 2 heapstory run -o out -- ./data
expect_status 2 heapstory run -o out
[ -e out ] && fail "an output folder was left behind"
finish

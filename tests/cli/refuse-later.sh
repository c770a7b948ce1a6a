# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# What comes with later versions says so, status 2.
heapstory run -o out -- "$PROGRAMS/wrapper" </dev/null >/dev/null || fail "run"
expect_status 2 heapstory run --mode sample -- true
expect_status 2 heapstory run --mode full -- true
expect_status 2 heapstory run --zone 'x=lib*' -- true
expect_status 2 heapstory export out/exit.hs --format csv -o x
expect_status 2 heapstory nonsense
expect_status 2 heapstory heap
expect_status 2 heapstory heap out/exit.hs --by nonsense
expect_status 2 heapstory heap out/exit.hs -n nonsense
expect_status 2 heapstory heap out/exit.hs --nonsense
expect_status 2 heapstory env --every 5s
finish

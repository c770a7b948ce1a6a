# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# A block that is copied and freed is read on its first page only: the next may be protected.
heapstory run -o out --no-exit-snapshot -- "$PROGRAMS/protected"
status=$?
[ $status -eq 77 ] && skip "no block of that kind with pages of $(getconf PAGESIZE) bytes"
[ $status -eq 0 ] || fail "ended with $status"
finish

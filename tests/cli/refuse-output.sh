# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Output folders that cannot be used: one line, nothing lost.
mkdir full
echo mine >full/file
expect_status 2 heapstory run -o full -- "$PROGRAMS/wrapper" </dev/null
[ "$(cat full/file)" = mine ] || fail "what was there is gone"
echo file >plain
expect_status 2 heapstory run -o plain -- "$PROGRAMS/wrapper" </dev/null
expect_status 2 heapstory run -o no/such/parent/folder -- "$PROGRAMS/wrapper" </dev/null
expect_status 0 heapstory run -o out -- "$PROGRAMS/wrapper" </dev/null
expect_status 2 heapstory snap out/store.live -o no/such/folder/x.hs
# a full disk: nothing half written stays
expect_status 2 heapstory snap out/store.live -o /dev/full
ls out
expect_status 2 heapstory heap out/exit.hs >/dev/full
finish

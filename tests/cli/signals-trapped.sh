# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# A sandbox that refuses the tracer's system calls by SIGSYS: the program goes on in any case.
heapstory run -o mask -- "$PROGRAMS/trapped" mask
status=$?
[ $status = 77 ] && skip "no such filter"
[ $status = 0 ] || fail "mask: ended with $status"
heapstory heap mask/exit.hs --by function -n all --json >heap.json
check_json heap.json '[r["count"] for r in j["rows"] if r["key"] == "keep_trapped"] == [200000]'
heapstory run -o madvise -- "$PROGRAMS/trapped" madvise 2>err || fail "madvise: ended with $?"
grep -o 'there was no more room for the store' err
heapstory check madvise/exit.hs >/dev/null || fail "madvise: check"
finish

# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Children by vfork and exec cost the parent no memory, followed or not.
heapstory run -o alone -- "$PROGRAMS/vforks" 40 || fail "ended with $?"
heapstory run -o followed --follow-children -- "$PROGRAMS/vforks" 20 || fail "followed: ended with $?"
children=(followed/child.*)
echo "${#children[@]} followed"
heapstory heap followed/exit.hs --json >heap.json
check_json heap.json 'j["totals"]["count"] == 2'
finish

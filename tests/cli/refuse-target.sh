# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Targets that are not there or not what they should be: one line, status 2.
# Others may be traced on this machine meanwhile: which, is left out.
exec 3>&2 2> >(sed -E 's/; (no process is traced|traced are: .*)$/; (the traced ones)/' >&3)
others=$!
for command in heap largest snap info check; do
	expect_status 2 heapstory $command no-such-target
done
expect_status 2 heapstory heap 999999999
expect_status 2 heapstory diff a.hs b.hs
expect_status 2 heapstory history no-such-target 0x1000
expect_status 2 heapstory mode no-such-target off
echo "text, not a snapshot" >foreign.hs
expect_status 2 heapstory heap foreign.hs
expect_status 2 heapstory check foreign.hs
: >empty.hs
expect_status 2 heapstory heap empty.hs
heapstory run -o out -- "$PROGRAMS/wrapper" </dev/null >/dev/null || fail "run"
head -c 1000 out/exit.hs >truncated.hs
expect_status 2 heapstory heap truncated.hs
if [ "$(id -u)" != 0 ]; then
	cp out/exit.hs unreadable.hs
	chmod 0 unreadable.hs
	expect_status 2 heapstory heap unreadable.hs
fi
exec 2>&3
wait $others
finish

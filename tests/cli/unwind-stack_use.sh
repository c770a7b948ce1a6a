# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# At most 2 KiB of the program's stack are taken by a hook, at worst (tests/programs/stack_use.c).
ALLOCATOR=$PROGRAMS/plug_bump.so
# the loader binds beforehand: its own stack would be counted
start t env LD_BIND_NOW=1 LD_PRELOAD="$ALLOCATOR" heapstory run -o out -- "$PROGRAMS/stack_use"
wait_mark t 1 || finish
go t
# readers that stop it now and then
for i in 1 2 3; do
	heapstory snap "$(traced_pid t)" -o "snap$i.hs" >/dev/null || fail "snapshot $i"
done
wait_mark t 2 || finish
go t
finish_program t || fail "ended with $?"
stack_used t.out
# the tables did grow, and nothing was lost
heapstory heap out/exit.hs --json >heap.json
check_json heap.json 'j["totals"]["allocations"] > 700000' 'j["coverage"]["events_lost"] == 0' \
	'j["coverage"]["blocks_without_stack"] == 0'
finish

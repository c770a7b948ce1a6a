# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# At most 2 KiB of the program's stack are taken by a hook, on aarch64 too.
need qemu-aarch64
emulated
mkdir out
# shellcheck disable=SC2086 # a command with arguments
$EMULATOR -E LD_BIND_NOW=1 -E LD_PRELOAD="$EMULATED_LIBRARY:$PROGRAMS/plug_bump.so" -E HEAPSTORY_TRACE_PLACE="$PWD" \
	-E HEAPSTORY_TRACE_DIR="$PWD/out" "$PROGRAMS/stack_use" </dev/null >used || fail "ended with $?"
stack_used used
heapstory heap out --json >heap.json
check_json heap.json 'j["totals"]["allocations"] > 700000' 'j["coverage"]["events_lost"] == 0' \
	'j["coverage"]["blocks_without_stack"] == 0'
finish

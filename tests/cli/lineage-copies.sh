# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Buffers that grow by copying: at least 90 % of the steps that the program counts are found.
look() { # NAME COMMAND...: what is found at its MARK 1
	local name=$1
	shift
	start "$name" heapstory run -o "$name.dir" --no-exit-snapshot -- "$@"
	wait_mark "$name" 1 || { finish_program "$name"; return; }
	heapstory heap "$name.dir/store.live" --addresses all --min 128 -n all --json >"$name.json" || fail "heap of $name"
	finish_program "$name" || fail "$name ended with $?"
	"$PYTHON" "$TOOLS/copies.py" found "$name.out" "$name.json" >"$name.found" || fail "$name: $(cat "$name.found")"
	echo "$name: $(cat "$name.found")" >>figures
}
for kind in pods few callers strings pointers string deque table plain; do
	look $kind "$PROGRAMS/copy_grow" $kind
done
if [ -e "$PROGRAMS/table_growth" ]; then
	look rust "$PROGRAMS/table_growth"
fi
[ -n "${FAILED:-}" ] && cat figures
finish

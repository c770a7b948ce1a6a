# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# The truth of tests/programs/cache_insert, built without unwind data, with frame pointers.
described() { # PROGRAM: functions in .eh_frame
	readelf -wf "$PROGRAMS/$1" | awk '/^Contents of/ { in_it = $4 == ".eh_frame" } / FDE / { n += in_it } END { print n }'
}
[ "$(described cache_insert_frames)" -lt "$(described cache_insert)" ] || fail "it has unwind data"
truth cache_insert_frames
finish

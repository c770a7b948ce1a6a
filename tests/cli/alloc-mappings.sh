# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# The truth of tests/programs/mappings where malloc maps its memory through the dynamic linker: that
# is in no report.
for allocator in libjemalloc.so.2 libtcmalloc_minimal.so.4 libmimalloc.so.2; do
	export LD_PRELOAD=$allocator
	truth mappings
	heapstory run -o $allocator -- "$PROGRAMS/cache_insert" </dev/null >/dev/null || fail "run"
	heapstory heap $allocator/exit.hs --kind mapping --json >mapping.json
	check_json mapping.json 'j["totals"]["count"] == 0' 'j["totals"]["peak_bytes"] is None'
	unset LD_PRELOAD
done
finish

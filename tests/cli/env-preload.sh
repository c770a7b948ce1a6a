# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# env prints what traces a program started by something else; a bare LD_PRELOAD works as well.
heapstory env -o out >settings || fail "env"
(
	while read -r line; do
		export "${line?}"
	done <settings
	exec "$PROGRAMS/cache_insert" </dev/null >/dev/null
) || fail "the program ended with $?"
store=$(find out* -name '*.live' | head -n 1)
[ -n "$store" ] || fail "no store: $(ls -R)"
heapstory heap "$store" --json >heap.json
check_json heap.json 'any("cache_insert" in str(r["key"]) and r["count"] == 1200 for r in j["rows"])'
# without any launcher
mkdir bare && cd bare || exit
start bare env LD_PRELOAD="$BUILD/libheapstory.so" "$PROGRAMS/cache_insert"
wait_mark bare 1 || finish
go bare
wait_mark bare 2 || finish
heapstory heap "${PID[bare]}" --json >heap.json
check_json heap.json 'any("cache_insert" in str(r["key"]) and r["count"] == 1200 for r in j["rows"])'
heapstory list | awk -v pid="${PID[bare]}" 'NR == 1 || $1 == pid { $1 = ""; print }' # but the pid
left=$(readlink -f "$XDG_RUNTIME_DIR"/heapstory/* out/store.live ../out/store.live)
finish_program bare || fail "ended with $?"
# nobody looked after these two
for file in $left; do
	case $file in /dev/shm/*.store) rm -f "$file" ;; esac
done
finish

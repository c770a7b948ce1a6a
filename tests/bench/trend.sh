#!/bin/bash
# SPDX-License-Identifier: MIT
# trend.sh - how long `heapstory trend` takes over 200 snapshots of a process with 200,000 live
# blocks: of the folder, whose timeline has the totals; of the snapshots alone; by size, which needs
# every block. Prints seconds and MiB.
set -eu
here=$(cd "$(dirname "$0")/../.." && pwd)
nr=${1:-200}
work=$(mktemp -d "${TMPDIR:-/tmp}/heapstory-bench.XXXXXX")
trap 'rm -rf "$work"' EXIT
export XDG_RUNTIME_DIR=$work
cd "$work"
"${CC:-gcc}" -O1 -g -I"$here" -o many_blocks "$here/tests/bench/many_blocks.c"
mkfifo in
"$here/build/heapstory" run -o out -- ./many_blocks "$nr" <in >said &
run=$!
exec 5>in
for ((mark = 1; mark <= nr; mark++)); do
	until grep -q "^MARK $mark\$" said; do sleep 0.01; done
	# the first by the supervisor's hand would begin the timeline; here nobody has yet
	[ -e out/timeline ] || : >out/timeline
	"$here/build/heapstory" snap out >/dev/null
	echo >&5
done
exec 5>&-
wait $run
echo "$nr snapshots, $(du -cm out/*.hs | tail -n 1 | cut -f 1) MiB; timeline $(du -k out/timeline | cut -f 1) KiB"
measure() { # WHAT COMMAND...
	local what=$1
	shift
	/usr/bin/time -f "$what: %e s, %U s of CPU, %M KiB" "$@" >"$what.txt"
	grep -c . "$what.txt" >/dev/null
}
measure folder "$here/build/heapstory" trend out
measure files "$here/build/heapstory" trend out/0*.hs
measure size "$here/build/heapstory" trend out/0*.hs --by size
head -n 12 folder.txt

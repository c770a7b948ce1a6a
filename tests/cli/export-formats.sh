# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# export: folded stacks and pprof hold the bytes of heap and diff; pprof files are read by pprof.
start w heapstory run -o out -- "$PROGRAMS/wrapper"
snap_marks w out/store.live 1 2
finish_program w || fail "ended with $?"

heapstory export 2.hs --format folded -o live.folded
heapstory export 1.hs 2.hs --format folded -o growth.folded
cat live.folded
echo "-- growth"
cat growth.folded
echo "-- all frames"
heapstory export 2.hs --format folded -o - --all-frames --function load_rows | sed 's/.*main;/main;/'
sum() { awk '{ sum += $NF } END { print sum }' "$1"; }
heapstory heap 2.hs --json >heap.json
check_json heap.json "j['totals']['bytes'] == $(sum live.folded)"
heapstory diff 1.hs 2.hs --json >diff.json
check_json diff.json "j['totals']['bytes']['delta'] == $(sum growth.folded)"

echo "-- refused"
expect_status 2 heapstory export 1.hs --format folded
expect_status 2 heapstory export 1.hs -o x
expect_status 2 heapstory export 1.hs --format csv -o x
expect_status 2 heapstory export 1.hs --format flame -o x
expect_status 2 heapstory export 1.hs 2.hs 2.hs --format folded -o x
expect_status 2 heapstory export 1.hs --format pprof -o none/x
[ -e x ] && fail "a file was left behind"

heapstory export 2.hs --format pprof -o live.pb.gz || fail "pprof"
heapstory export 1.hs 2.hs --format pprof -o growth.pb.gz || fail "pprof of two"
[ -n "${FAILED-}" ] && finish
type -P go >/dev/null || skip "no go, whose pprof reads the files"
export HOME=$WORK PPROF_TMPDIR=$WORK
# `go` alone is a function of lib.sh. Value, then the stack, innermost first, on one line
traces() {
	command go tool pprof -traces -sample_index="$2" -unit=bytes "$1" 2>go.err |
		awk '/^-----/ { if (line) print line; line = ""; begun = 1; next }
			begun { sub(/^ +/, ""); gsub(/ +/, " "); line = line (line ? " < " : "") $0 }' | sort
}
echo "-- pprof"
traces live.pb.gz inuse_objects
traces live.pb.gz inuse_space
echo "-- pprof of growth"
traces growth.pb.gz inuse_objects
traces growth.pb.gz inuse_space
command go tool pprof -raw growth.pb.gz 2>>go.err | grep -q 'wrapper.*\[FN\]\[FL\]\[LN\]' ||
	fail "names are not in the file: $(cat go.err)"
finish

# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# lib.sh - what every cli test has at hand. Read by tests/run before the test, in a fresh folder.
#
# $BUILD      where heapstory and libheapstory.so are
# $PROGRAMS   the small programs of tests/programs, built
# $WORK       this test's folder, also the current one; its registry of stores is its own

# The build folder of a variant has no programs of its own.
PROGRAMS=$TESTS/../build/programs
TOOLS=$TESTS/tools
# Debian's own, not a version manager's front
PYTHON=/usr/bin/python3
[ -x $PYTHON ] || PYTHON=python3
# where the counting preload keeps its tables, if it is used
COUNT_FILE=$WORK/count
export PROGRAMS PYTHON COUNT_FILE PATH="$BUILD:$PATH" LC_ALL=C.UTF-8 NO_COLOR=1 COLUMNS=100
unset LD_PRELOAD MALLOC_ARENA_MAX HEAPSTORY_DEBUG_PATH

# What differs from run to run is made equal: addresses, pids, times, this folder's name.
normalise() {
	sed -E -e "s|$WORK|WORK|g" \
		-e 's/0x[0-9a-f]{6,}/0xADDR/g' \
		-e 's/(heapstory\.[A-Za-z0-9_+-]+)\.[0-9]+/\1.PID/g' \
		-e 's/\b(pid|process) [0-9]+/\1 PID/g' \
		-e 's/[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9:.]+(Z|[+-][0-9:]+)?/DATE/g' \
		-e 's/\b[0-9]+(\.[0-9]+)? ?(ms|s|min|h)\b/TIME/g' \
		-e 's/[0-9.]+ % of the life/PART of the life/' -e 's/(starts|mark at) [0-9]+/\1 N/' \
		-e '/^note: (libunwind is not in use|the store is in memory)/d' # the machine's
}

fail() { echo "FAIL: $*"; FAILED=1; }
skip() { echo "$*"; exit 77; }
need() { command -v "$1" >/dev/null || skip "no $1"; }
finish() { exit "${FAILED:-0}"; }

# expect_status N COMMAND...: the command ends with N
expect_status() {
	local want=$1 got
	shift
	"$@"
	got=$?
	[ $got = "$want" ] || fail "status $got, not $want: $*"
}

# tap COMMAND...: runs what prints TAP of its own; its lines are this test's figures, a file that
# tests/run prints. Skipped if all of it was.
tap() {
	"$@" >tap || fail "status $?: $*"
	grep -q '^ok' tap && ! grep '^ok' tap | grep -qv '# SKIP' && skip "$(sed -n 's/.*# SKIP //p' tap | head -n 1)"
	grep -E '^(not )?ok|^#' tap >>figures
	grep -A60 '^not ok' tap && fail "$*"
}

# json FILE EXPRESSION: a Python expression on the object `j`; bool results: status, else printed
json() {
	"$PYTHON" - "$1" "$2" <<-'END'
		import json, os, sys
		j = json.load(open(sys.argv[1]))
		r = eval(sys.argv[2])
		sys.exit(not r) if isinstance(r, bool) else print(r)
	END
}

# check_json FILE EXPRESSION...: each expression has to be true
check_json() {
	local file=$1
	shift
	for e; do json "$file" "$e" || fail "not true of $file: $e"; done
}

# start NAME COMMAND...: runs it in the background with its input a pipe, its output in NAME.out;
# wait_mark NAME N, go NAME and finish_program NAME drive it. ${PID[NAME]} is what was started.
declare -A PID FD
start() {
	local name=$1 fd
	shift
	mkfifo "$name.in"
	(
		# a child that held another's input open would keep that one from its end
		for fd in "${FD[@]}"; do exec {fd}>&-; done
		[ "$(type -t "$1")" = function ] || exec "$@"
		"$@"
	) <"$name.in" >"$name.out" 2>"$name.err" &
	PID[$name]=$!
	exec {fd}>"$name.in"
	FD[$name]=$fd
}
wait_mark() {
	local i
	for ((i = 0; i < 600; i++)); do
		grep -q "^MARK $2\$" "$1.out" 2>/dev/null && return 0
		kill -0 "${PID[$1]}" 2>/dev/null || break
		sleep 0.05
	done
	fail "$1 did not reach MARK $2: $(tail -n 3 "$1.err")"
	return 1
}
go() { echo >&"${FD[$1]}"; }
snap_marks() { # NAME TARGET MARK...: a snapshot MARK.hs at each of NAME's marks, past which it goes on
	local name=$1 target=$2 mark
	for mark in "${@:3}"; do
		wait_mark "$name" "$mark" || finish
		heapstory snap "$target" -o "$mark.hs" >/dev/null
		go "$name"
	done
}
finish_program() { # NAME: closes its input, returns its status
	local fd=${FD[$1]}
	exec {fd}>&-
	wait "${PID[$1]}"
}
# The process that NAME's `heapstory run` traces.
traced_pid() { ps -o pid=,comm= --ppid "${PID[$1]}" | awk '$2 != "heapstory-group" { print $1; exit }'; }

# wait_held NAME PATTERN: waits until heapstory, started as NAME or below it, holds such a file open.
wait_held() {
	local i p
	for ((i = 0; i < 600; i++)); do
		for p in "${PID[$1]}" $(pgrep -P "${PID[$1]}"); do
			# shellcheck disable=SC2010 # where a link leads to
			[ "$(cat "/proc/$p/comm" 2>/dev/null)" = heapstory ] && ls -l "/proc/$p/fd" 2>/dev/null | grep -q "$2" && return
		done
		sleep 0.05
	done
	fail "no file '$2' is held"
}

# truth PROGRAM [OPTION]...: its TRUTH lines hold (tests/tools/truth.py)
truth() {
	[ -e "$PROGRAMS/$1" ] || skip "tests/programs/$1 is not built"
	"$PYTHON" "$TOOLS/truth.py" "$BUILD/heapstory" "$@" || fail "truth of $1"
}

# blocks_of NAME PROGRAM: its live blocks at MARK 1 in NAME.json, what it tells of them in NAME.out
blocks_of() {
	start "$1" heapstory run -o "$1.run" -- "$2"
	wait_mark "$1" 1 || finish
	heapstory snap "$1.run/store.live" -o "$1.hs" >/dev/null || fail "snap $1"
	finish_program "$1" || fail "$1 ended with $?"
	heapstory heap "$1.hs" --addresses all -n all --json >"$1.json" || fail "heap $1.hs"
}
# right_classes NAME PROGRAM: they have the classes that it tells (tests/tools/classes.py)
right_classes() {
	blocks_of "$1" "$2"
	"$PYTHON" "$TOOLS/classes.py" "$1.out" "$1.json" >said || { fail "classes: $1"; cat said; }
}

# emulated: from here on programs are those for aarch64, run by $EMULATOR under the tracer for it,
# with which truth knows how to deal.
emulated() {
	local built=$TESTS/../build/aarch64 root=/usr/aarch64-linux-gnu
	[ -e "$built/libheapstory.so" ] || skip "not built: make aarch64"
	PROGRAMS=$built/programs EMULATED_LIBRARY=$built/libheapstory.so
	# the library path: so that libraries have the same names in here and outside
	EMULATOR="qemu-aarch64 -cpu max,pauth-impdef=on -L $root -E LD_LIBRARY_PATH=$root/lib"
	export PROGRAMS EMULATOR EMULATED_LIBRARY
}

# stack_used FILE: what stack_use printed there is within the limit.
stack_used() {
	awk '/^USED/ { n++; if ($2 > 2048 || $2 < 100) { print "FAIL:", $0; bad = 1 } }
		END { exit bad || n != 15 }' "$1" || fail "stack use"
	sed -n 's/^USED \([0-9]*\) \(.*\)/\1 bytes of stack: \2/p' "$1" >figures
}

# counted DIR: after the end of the process the store in DIR holds the blocks that the counting
# preload saw, no more, no less (tests/tools/count.py, which may name events that were half done in
# the file half-done); then its files are removed.
counted() {
	"$PYTHON" "$TOOLS/count.py" "$BUILD/heapstory" "$@" 2>>half-done || {
		fail "store and counting preload differ"
		cat half-done
	}
	rm -f "$COUNT_FILE".*
}
# with_count COMMAND...: runs it with the counting preload (behind it $ALLOCATOR, if set)
with_count() {
	LD_PRELOAD="$PROGRAMS/count_preload.so${ALLOCATOR:+:$ALLOCATOR}" "$@"
}

# counted_programs [LIBRARY]: under that allocator (none: the C library's) the store equals the
# counting preload, and the programs print what they print untraced.
counted_programs() {
	export ALLOCATOR=${1-}
	for program in cache_insert prod_cons vec_growth; do
		"$PROGRAMS/$program" </dev/null >plain.out
		with_count heapstory run -o $program --no-exit-snapshot -- "$PROGRAMS/$program" </dev/null >traced.out ||
			fail "$program ended with $?"
		cmp plain.out traced.out || fail "$program prints something else"
		counted $program
	done
}

# as_user COMMAND...: as nobody where the test runs as root. `user_setup` comes first: it puts a
# copy of what is needed where nobody can read it, and makes $USER_WORK, which is nobody's.
user_setup() {
	USER_WORK=$WORK/user
	mkdir -p "$USER_WORK/registry" "$USER_WORK/bin"
	cp "$BUILD/heapstory" "$BUILD/libheapstory.so" "$PROGRAMS"/cache_insert* "$USER_WORK/bin/"
	chmod 700 "$USER_WORK/registry"
	chmod 755 "$WORK/.." "$WORK"
	[ "$(id -u)" = 0 ] && chown -R 65534:65534 "$USER_WORK"
	cd "$USER_WORK" || exit 1
}
as_user() {
	if [ "$(id -u)" = 0 ]; then
		env XDG_RUNTIME_DIR="$USER_WORK/registry" HOME="$USER_WORK" PATH="$USER_WORK/bin:$PATH" \
			setpriv --reuid=65534 --regid=65534 --clear-groups -- "$@"
	else
		env XDG_RUNTIME_DIR="$USER_WORK/registry" PATH="$USER_WORK/bin:$PATH" "$@"
	fi
}

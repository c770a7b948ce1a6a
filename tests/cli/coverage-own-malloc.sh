# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# A program that defines malloc itself: the report says that its blocks are not seen.
heapstory run -o own -- "$PROGRAMS/own_malloc" || fail "ended with $?"
heapstory heap own/exit.hs --json >own.json
check_json own.json '"the program defines malloc itself: those calls are not seen" in j["coverage"]["notes"]'
# and of a program that does not, it is not said, whatever allocator comes after the tracer
plain() { # FOLDER COMMAND...
	heapstory run -o "$@" </dev/null >/dev/null
	heapstory heap "$1" --json >plain.json
	check_json plain.json 'not any("defines malloc" in note for note in j["coverage"]["notes"])' 'j["totals"]["allocations"] > 0'
}
plain a -- "$PROGRAMS/cache_insert"
LD_PRELOAD=libjemalloc.so.2 plain b -- "$PROGRAMS/cache_insert"
# at a fixed address, with a pointer to malloc
printf '#include <stdlib.h>\nvoid *(*volatile make)(size_t) = malloc; int main(void) { return !make(9); }\n' >fixed.c
gcc -fno-pie -no-pie -o fixed fixed.c || fail "fixed.c"
plain c -- ./fixed
plain d -- "$PYTHON" -c 'print()'
finish

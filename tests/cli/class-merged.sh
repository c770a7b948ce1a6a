# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Functions that the compiler merges have the name of one type only; no block has its class by that.
# types that only one file knows, whose functions gcc merges: no class is wrong. Of whole functions of
# vectors that are merged gcc has no frames, so that these are unknown from -O2 on.
need clang++
for compiler in 'g++ -O0' 'g++ -O1' 'g++ -O2' 'g++ -O3' 'g++ -Os' 'clang++ -O2'; do
	name=merged_${compiler// /_}
	# shellcheck disable=SC2086 # the compiler and an option
	$compiler -g -std=c++20 -I"$TESTS/programs" -o "$name" "$TESTS/programs/cpp_merged.cpp" || fail "$compiler"
	blocks_of "$name" "./$name"
	"$PYTHON" "$TOOLS/classes.py" "$name.out" "$name.json" >said
	grep -q '; wrong: 0.0 %, 0.0 %' said || { fail "wrong classes: $name"; cat said; }
	case $compiler in
	'g++ -O'[23]) unknown='^100 of std::(vector|deque)<[^<]*>: malloc in buffers$|Job\[\]>: malloc in shared$|^right:' ;;
	*) unknown='^right: 100.0 % of blocks, 100.0 % of bytes' ;;
	esac
	! grep -vqE "$unknown" said || { fail "unknown classes: $name"; cat said; }
done
# without types in the debug information, or without any, classes are few, and none is wrong
for options in 'clang++ -gline-tables-only' 'g++ -g0'; do
	name=lesser${options#* }
	# shellcheck disable=SC2086 # the compiler and an option
	$options -O2 -std=c++20 -I"$TESTS/programs" -o "$name" "$TESTS/programs/cpp_operations.cpp" || fail "$options"
	blocks_of "$name" "./$name"
	"$PYTHON" "$TOOLS/classes.py" "$name.out" "$name.json" >said
	grep -q '; wrong: 0.0 %, 0.0 %' said || { fail "wrong classes: $name"; cat said; }
done
finish

# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# What the operations of the standard libraries' containers allocate has their classes, in programs
# of C++ and Rust that say so, by compilers of each kind.
need clang++
for name in cpp_operations cpp_bus cpp_text; do
	right_classes $name "$PROGRAMS/$name"
done
for compiler in 'g++ -Os' 'clang++ -O2'; do
	name=operations_${compiler// /_}
	# shellcheck disable=SC2086 # the compiler and an option
	$compiler -g -std=c++20 -I"$TESTS/programs" -o "$name" "$TESTS/programs/cpp_operations.cpp" || fail "$compiler"
	right_classes "$name" "./$name"
done
[ -e "$PROGRAMS/rust_texts" ] || finish
for name in rust_texts rust_routes rust_channels; do
	cp "$PROGRAMS/$name" .
	right_classes $name ./$name
done
finish

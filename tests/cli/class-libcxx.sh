# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# The same programs have the same classes with libc++. CXXFLAGS may say where its headers are.
need clang++
build() { # PROGRAM OPTION
	# shellcheck disable=SC2086 # several options
	clang++ "$2" -g -std=c++20 -stdlib=libc++ ${CXXFLAGS:-} -w -I"$TESTS/programs" -o "$1$2" "$TESTS/programs/$1.cpp" -pthread
}
echo '#include <vector>
int main() { return (int)std::vector<int>().size(); }' >empty.cpp
# shellcheck disable=SC2086
clang++ -stdlib=libc++ ${CXXFLAGS:-} -o empty empty.cpp 2>/dev/null || skip "no headers of libc++"
for option in -O0 -O2; do
	build cpp_operations $option || fail "clang++ $option"
	right_classes cpp_operations$option ./cpp_operations$option
done
for name in cpp_bus cpp_text; do
	build $name -O2 || fail "clang++ $name"
	right_classes $name-O2 ./$name-O2
done
finish

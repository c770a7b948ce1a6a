# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Frames, files and lines of 10,000 addresses each, beside llvm-symbolizer's and eu-addr2line's.
#
#	SYMBOLS_FILES="/path/a /path/b" SYMBOLS_SUMMARY=FILE tests/run cli/dwarf-differential
need llvm-symbolizer
need eu-addr2line
programs=$TESTS/../build/programs
libc=$(gcc -print-file-name=libc.so.6)
# the build with debug information that Debian's libstdc++6-*-dbg has
libstdcxx=$(dirname "$(realpath "$(g++ -print-file-name=libstdc++.so.6)")")/debug/libstdc++.so.6
[ -e "$libstdcxx" ] || skip "no libstdc++ with debug information"

clang++ -O2 -gdwarf-4 -std=c++17 -o shapes_clang "$TESTS/programs/sym_shapes.cpp" || fail "clang++"
g++ -O2 -gdwarf-5 -std=c++17 -flto -o shapes_lto "$TESTS/programs/sym_shapes.cpp" || fail "g++"
rust=(-O -g --edition 2021 -o idleak_5 "$TESTS/programs/seed_idleak.rs")
# older versions write DWARF 4 only: then another build of it
MAKEFLAGS='' rustc -C dwarf-version=5 "${rust[@]}" 2>/dev/null ||
	MAKEFLAGS='' rustc -C lto "${rust[@]}" || fail "rustc"
compare() { # FILE [llvm]
	"$PYTHON" "$TESTS/tools/inlines.py" "$programs/sym_driver" "$(realpath "$1")" 10000 summary "${@:2}" ||
		fail "$1"
}

for file in "$libc" "$libstdcxx" "$programs/sym_shapes" "$programs/log_report" "$programs/seed_idleak" idleak_5 \
	${SYMBOLS_FILES-}; do
	compare "$file"
done
# eu-addr2line finds no unit without .debug_aranges, and few inlined functions across units
compare shapes_clang llvm
compare shapes_lto llvm
[ -z "${SYMBOLS_SUMMARY-}" ] || cp summary "$SYMBOLS_SUMMARY"
finish

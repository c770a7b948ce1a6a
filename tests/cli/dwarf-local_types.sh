# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Code below the types of lambdas and local classes is found: frames, files and lines of a program
# without optimization, beside llvm-symbolizer's.
need llvm-symbolizer
need clang++
driver=$TESTS/../build/programs/sym_driver
for kind in 'g++ -gdwarf-5' 'g++ -gdwarf-4' 'g++ -gdwarf-5 -fdebug-types-section' 'clang++ -gdwarf-5'; do
	# shellcheck disable=SC2086 # options
	$kind -std=c++17 -Wl,--build-id=sha1 -o local "$TESTS/programs/local_types.cpp" || fail "$kind"
	"$PYTHON" "$TESTS/tools/inlines.py" "$driver" local 10000 details llvm || fail "$kind: inlines.py"
done
finish

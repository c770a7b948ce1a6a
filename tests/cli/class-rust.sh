# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Classes of a Rust program's blocks are what it says they are.
[ -e "$PROGRAMS/rust_services" ] || skip "tests/programs/rust_services is not built"
cp "$PROGRAMS/rust_types" "$PROGRAMS/rust_services" .
# the lesser kind of debug information, as releases often have it
MAKEFLAGS='' rustc -O -C debuginfo=1 --edition 2021 --crate-name rust_services -o lesser \
	"$TESTS/programs/rust_services.rs" || fail "rustc"
MAKEFLAGS='' rustc -g --edition 2021 --crate-name rust_services -o debug \
	"$TESTS/programs/rust_services.rs" || fail "rustc -g"
for name in rust_types rust_services lesser debug; do
	right_classes $name ./$name
done
finish

# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Our unwinder's stacks against gdb's on python3, node, a C++ compile and a Rust program.
need gcc
tap "$TESTS/unwind/run.sh" gdb
finish

# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# The unwinder where there is little to stand on (tests/unwind/hard.c): small signal stacks, closed
# descriptors, seccomp, handlers at any moment.
need gcc
tap "$TESTS/unwind/run.sh" hard
finish

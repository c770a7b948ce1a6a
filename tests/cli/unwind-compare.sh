# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Our unwinder against libunwind's unw_step(), frame by frame, in processes made for it
# (tests/unwind/compare.c): below 1 stack in 1000 differs, and the memo never does.
need gcc
tap "$TESTS/unwind/run.sh" stacks python node cc1plus rust
finish

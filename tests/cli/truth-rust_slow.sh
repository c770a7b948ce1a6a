# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# The truth of tests/programs/rust_slow.
truth rust_slow
finish

# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# The truth of tests/programs/rust_growth.
truth rust_growth
finish

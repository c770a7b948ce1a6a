# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# The truth of tests/programs/rust_tables.
truth rust_tables
finish

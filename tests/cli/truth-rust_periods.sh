# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# The truth of tests/programs/rust_periods.
truth rust_periods
finish

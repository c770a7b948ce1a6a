# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# The truth of tests/programs/parallel_arrays.
truth parallel_arrays
finish

# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# The truth of tests/programs/swap_vectors.
truth swap_vectors
finish

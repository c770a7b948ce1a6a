# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# The truth of tests/programs/swap_generation.
truth swap_generation
finish

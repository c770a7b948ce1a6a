# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# The truth of tests/programs/ring_swap.
truth ring_swap
finish

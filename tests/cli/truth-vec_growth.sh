# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# The truth of tests/programs/vec_growth.
truth vec_growth
finish

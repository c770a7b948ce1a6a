# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# The truth of tests/programs/cpp_growth.
truth cpp_growth
finish

# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# The truth of tests/programs/rate_low.
truth rate_low
finish

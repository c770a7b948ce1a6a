# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# The truth of tests/programs/periods.
truth periods
finish

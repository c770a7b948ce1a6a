# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# The truth of tests/programs/ladder.
truth ladder
finish

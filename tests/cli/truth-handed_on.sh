# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# The truth of tests/programs/handed_on.
truth handed_on
finish

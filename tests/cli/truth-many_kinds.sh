# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# The truth of tests/programs/many_kinds.
truth many_kinds
finish

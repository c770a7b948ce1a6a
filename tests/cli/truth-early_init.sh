# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# The truth of tests/programs/early_init.
truth early_init
finish

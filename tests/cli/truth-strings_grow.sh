# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# The truth of tests/programs/strings_grow.
truth strings_grow
finish

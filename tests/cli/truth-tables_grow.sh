# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# The truth of tests/programs/tables_grow.
truth tables_grow
finish

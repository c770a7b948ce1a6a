# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# The truth of tests/programs/cache_insert_O2.
truth cache_insert_O2
finish

# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# The truth of tests/programs/cache_insert_stripped.
truth cache_insert_stripped
finish

# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# The truth of tests/programs/cache_insert.
truth cache_insert
finish

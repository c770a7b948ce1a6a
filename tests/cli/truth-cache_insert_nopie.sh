# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# The truth of tests/programs/cache_insert_nopie.
truth cache_insert_nopie
finish

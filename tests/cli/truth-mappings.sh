# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# The truth of tests/programs/mappings.
truth mappings
finish

# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# The truth of tests/programs/realloc_edges.
truth realloc_edges
finish

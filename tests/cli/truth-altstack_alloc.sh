# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# The truth of tests/programs/altstack_alloc.
truth altstack_alloc
finish

# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# The truth of tests/programs/closefd.
truth closefd
finish

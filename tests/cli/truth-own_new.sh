# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# The truth of tests/programs/own_new.
truth own_new
finish

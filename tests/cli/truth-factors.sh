# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# The truth of tests/programs/factors.
truth factors
finish

# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# The truth of tests/programs/plateau.
truth plateau
finish

# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# The truth of tests/programs/robin_hood.
truth robin_hood
finish

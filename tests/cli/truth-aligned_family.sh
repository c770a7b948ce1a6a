# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# The truth of tests/programs/aligned_family.
truth aligned_family
finish

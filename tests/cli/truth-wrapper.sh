# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# The truth of tests/programs/wrapper.
truth wrapper
finish

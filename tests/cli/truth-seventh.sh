# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# The truth of tests/programs/seventh.
truth seventh
finish

# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# The truth of tests/programs/prod_cons.
truth prod_cons
finish

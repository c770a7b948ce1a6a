# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# The truth of tests/programs/stacks_gone.
truth stacks_gone
finish

# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# The truth of tests/programs/fork_exec.
truth fork_exec
finish

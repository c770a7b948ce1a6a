# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# The truth of tests/programs/slow_threads.
truth slow_threads
finish

# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# The truth of tests/programs/libc_inner.
truth libc_inner
finish

# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Under glibc: the store equals the counting preload.
counted_programs
finish

# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Under jemalloc: the store equals the counting preload.
counted_programs libjemalloc.so.2
finish

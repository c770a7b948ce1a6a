# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Under tcmalloc: the store equals the counting preload.
counted_programs libtcmalloc_minimal.so.4
finish

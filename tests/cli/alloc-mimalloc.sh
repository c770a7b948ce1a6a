# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Under mimalloc: the store equals the counting preload.
counted_programs libmimalloc.so.2
finish

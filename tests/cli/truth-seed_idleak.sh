# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# The truth of tests/programs/seed_idleak (Rust), with the bug and without.
truth seed_idleak
truth seed_idleak fixed
finish

# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# The program of the demo grows as its comment says.
truth demo_idleak
finish

# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# The truth of tests/programs/one_guilty.
truth one_guilty
finish

# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# The truth of tests/programs/upgrade_self.
[ "$(id -u)" = 0 ] || skip "only root may read a replaced library through /proc/PID/map_files"
truth upgrade_self
finish

# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# The truth of tests/programs/dl_plugin.
truth dl_plugin
finish

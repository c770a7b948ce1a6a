# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Every way to die: the store is there afterwards.
for way in '' exit _exit quick_exit abort segv kill lastthread; do
	# shellcheck disable=SC2086 # no word where it is empty
	truth ends $way
done
finish

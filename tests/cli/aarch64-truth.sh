# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# The tracer for aarch64 in programs for aarch64, under an emulator; what it records is read by the
# tool of this machine. Return addresses are signed.
need qemu-aarch64
emulated
for program in aligned_family altstack_alloc cache_insert cache_insert_frames closefd dl_plugin early_init \
	libc_inner prod_cons realloc_edges swap_generation vec_growth wrapper; do
	truth $program
done
for way in '' abort segv kill lastthread; do
	# shellcheck disable=SC2086 # no word where it is empty
	truth ends $way
done
finish

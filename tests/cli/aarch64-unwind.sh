# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# The unwinder on aarch64, under an emulator: hard cases and libgcc's stacks; return addresses plain
# and signed.
need aarch64-linux-gnu-gcc
need qemu-aarch64
export EMULATOR='qemu-aarch64 -cpu max,pauth-impdef=on -L /usr/aarch64-linux-gnu'
CC='aarch64-linux-gnu-gcc -mbranch-protection=none' tap "$TESTS/unwind/run.sh" hard stacks
CC='aarch64-linux-gnu-gcc -mbranch-protection=standard' tap "$TESTS/unwind/run.sh" hard
grep -q 'ok .* return addresses are signed' figures || fail "no signed return addresses"
finish

#!/bin/bash
# SPDX-License-Identifier: MIT
# pause.sh [BLOCKS]: the longest time that a snapshot holds a one-thread program up, beside the
# longest gap without a snapshot in the same run; and what a block costs in the store.
set -eu
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
build=${BUILD:-$here/../../build}
blocks=${1:-1000000}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
gcc -O2 -fno-builtin -o "$work/pause" "$here/pause.c"
coproc RUN { exec "$build/heapstory" run --no-exit-snapshot -o "$work/out" -- "$work/pause" "$blocks"; }
# shellcheck disable=SC2153 # the coprocess's
to=${RUN[1]} from=${RUN[0]}
ask() { echo >&"$to"; read -r gap <&"$from"; }
read -r _ <&"$from"
for i in $(seq 20); do
	ask
	sleep 0.05
	ask
	echo "$gap" >>"$work/without"
	"$build/heapstory" snap "$work/out/store.live" -o "$work/$i.hs" >"$work/path"
	ask
	echo "$gap" >>"$work/with"
done
used=$(stat -L -c '%b * %B' "$work/out/store.live")
exec {to}>&-
wait "$RUN_PID"
median() { sort -n "$1" | sed -n 10p; }
echo "longest gap, median of 20: $(median "$work/with") us with a snapshot, $(median "$work/without") us without"
echo "largest of 20: $(sort -n "$work/with" | tail -1) us with, $(sort -n "$work/without" | tail -1) us without"
echo "the whole store: $((used)) bytes, $(((used) / blocks)) a block"

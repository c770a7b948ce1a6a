# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Values of options that there are not: one line that says which there are, status 2. All durations
# need a unit, but for 0.
heapstory run -o out -- "$PROGRAMS/wrapper" </dev/null >/dev/null || fail "run"
for command in 'heap out' 'diff out/exit.hs out/exit.hs' 'trend out'; do
	for option in --by --sort --kind; do
		# shellcheck disable=SC2086 # words
		expect_status 2 heapstory $command $option nonsense
	done
done
for option in --every --on-growth --keep --depth --mode; do
	expect_status 2 heapstory run $option 5x -- true
done
expect_status 2 heapstory run --every 5 -- true
expect_status 2 heapstory supervise --every 5 1
expect_status 2 heapstory run --every 0 -- true
expect_status 2 heapstory heap out --older 5
expect_status 2 heapstory heap out --younger 1.5
expect_status 2 heapstory heap out --min 5x
expect_status 2 heapstory trend out --limit 5x
expect_status 2 heapstory diff out/exit.hs out/exit.hs --fail-above 5x
heapstory heap out --older 0 >/dev/null || fail "--older 0"
heapstory run --every 1.5s -o other -- "$PROGRAMS/wrapper" </dev/null >/dev/null || fail "--every 1.5s"
finish

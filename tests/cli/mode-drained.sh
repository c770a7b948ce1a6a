# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# off ends the following of blocks once none is left, whether the last went before or after.
word_is() { # MODE MARK: of the store's control word, see enum hs_mode: 0 off, 4 drain
	local word
	word=$(od -An -t u4 -j 32768 -N 4 out/store.live)
	[ $((word & 255)) -eq "$1" ] || fail "mode $word, expected $1, after MARK $2"
}
start c heapstory run -o out -- "$PROGRAMS/drained"
wait_mark c 1 || finish
heapstory mode drained off >mode.out || fail "mode off"
grep -q ': off; 96 blocks that it knows are still followed$' mode.out || fail "$(cat mode.out)"
word_is 4 1
go c
wait_mark c 2 || finish
word_is 0 2
heapstory mode drained live >mode.out || fail "mode live"
go c
wait_mark c 3 || finish
heapstory mode drained off >mode.out || fail "mode off"
grep -q ': off$' mode.out || fail "$(cat mode.out)"
go c
wait_mark c 4 || finish
word_is 0 4
finish_program c || fail "ended with $?"
finish

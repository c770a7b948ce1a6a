# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# The output folder goes away, or descriptors are few: what was recorded is not lost, and it is said
# where it is.
mkdir memory
for how in 'mv gone' 'rm -r'; do
	rm -rf out gone
	start c heapstory run -o out --store memory -- "$PROGRAMS/cache_insert"
	wait_mark c 1 || finish
	# shellcheck disable=SC2086 # words
	case $how in
	mv*) mv out gone ;;
	*) rm -r out ;;
	esac
	finish_program c
	[ $? = 2 ] || fail "$how: no trouble"
	grep -q 'nothing was recorded' c.err && fail "$how: $(cat c.err)"
	store=$(sed -n "s/^heapstory: what was recorded stays in '\(.*\)'; .*/\1/p" c.err)
	heapstory heap "$store" --json >heap.json || fail "$how: $(cat c.err)"
	check_json heap.json 'j["totals"]["count"] >= 1200'
	rm -f "$store" c.in
done
(
	ulimit -n 8
	exec heapstory run -o few -- "$PROGRAMS/cache_insert" </dev/null >few.out
) || fail "8 descriptors: status $?"
if [ ! -f few/store.live ] || [ -L few/store.live ]; then
	fail "8 descriptors: the store did not come home"
fi
heapstory check few/exit.hs >/dev/null || fail "8 descriptors: no whole exit.hs"
finish

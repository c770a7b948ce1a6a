# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# What would be ignored is refused, each in one line that says what to do instead; and what a name
# holds does not reach the terminal.
refused() { # TEXT COMMAND...
	local text=$1
	shift
	expect_status 2 "$@" >rows 2>err
	if [ "$(wc -l <err)" != 1 ] || ! grep -q -e "$text" err; then
		fail "$*: $(cat err)"
	fi
	[ -s rows ] && fail "$* printed something: $(cat rows)"
}
start c heapstory run -o out -- "$PROGRAMS/cache_insert"
wait_mark c 1 || finish
heapstory snap out/store.live -o 1.hs --label $'red \033[31m\nnext\tline \302\233' >/dev/null
heapstory heap out/store.live >live
finish_program c || fail "ended with $?"
for option in '--by site' --show-sizes --zones '--sort count'; do
	# shellcheck disable=SC2086 # words
	refused '--addresses lists blocks' heapstory heap 1.hs --addresses all $option
done
refused 'has no --json' heapstory export 1.hs --format folded -o - --json
head -c 64 /dev/zero >binary
refused "'binary', line 1: a byte of value 0" heapstory diff 1.hs 1.hs --ignore binary
refused 'takes names of functions' heapstory heap 1.hs --wrapper 'libsqlite3.so.0+0xa7504'
refused "with 0x before it, it is: 0x7f12ab" heapstory history 1.hs 7f12ab
refused "'nowhere' is no address; 0x7f1200000010 is one" heapstory history 1.hs nowhere
refused "'heapstory run --help' lists" heapstory run --bogus true
refused "'heapstory mode --help'" heapstory mode 1.hs --bogus
echo text >cache_insert
refused "no traced process is named 'cache_insert', and the file 'cache_insert' is neither" heapstory snap cache_insert
refused 'there is no process 4000000000' heapstory heap 4000000000
refused "is named 'a.nb'" heapstory heap $'a\nb'

# a program that is named by a number
cp "$PROGRAMS/cache_insert" 777777777
start n heapstory run -o digits -- ./777777777
wait_mark n 1 || finish
heapstory heap 777777777 --json >digits.json || fail "a program of digits is not found"
finish_program n || fail "ended with $?"

# control characters
heapstory heap 1.hs >text
[ "$(tr -d '\n' <text | tr -cd '[:cntrl:]' | wc -c)" = 0 ] || fail "control characters: $(cat -v text)"
grep -q "red .x1b\[31m.nnext.tline .xc2.x9b'" text || fail "the label is not in: $(cat -v text)"
heapstory heap 1.hs --json >label.json
check_json label.json 'j["target"]["label"] == "red \x1b[31m\nnext\tline \x9b"'

# none asked for is not none there
for command in "largest 1.hs" "heap 1.hs" "diff 1.hs out/exit.hs"; do
	# shellcheck disable=SC2086 # words
	heapstory $command -n 0 >rows
	grep -q -e 'no live' -e 'no difference' rows && fail "$command: $(cat rows)"
	grep -q '^([0-9]* more rows*; -n all shows [a-z]*)$' rows || fail "$command: $(cat rows)"
done
# where the store is, of a running program only; rows as wide as they may be
grep -q '^note: the store is' live || fail "nothing is said of the store: $(cat live)"
heapstory heap out/store.live >rows
grep -q 'the store is' rows text && fail "the store is not of interest: $(cat rows text)"
for width in 45 60 80; do
	for command in "heap 1.hs" "largest 1.hs -n 2" "heap 1.hs --by stack"; do
		# shellcheck disable=SC2086 # words
		COLUMNS=$width heapstory $command | awk -v w=$width 'length($0) > w { print; bad = 1 } END { exit bad }' ||
			fail "too wide for $width: $command"
	done
done
if [ -e /dev/full ]; then
	for page in '' heap; do
		# shellcheck disable=SC2086 # words
		expect_status 2 heapstory help $page >/dev/full 2>err
		grep -q 'cannot write to standard output' err || fail "help $page: $(cat err)"
	done
fi
heapstory help heap >page || fail "help: status $?"
[ -s page ] || fail "help prints nothing"
finish

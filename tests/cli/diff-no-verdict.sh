# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# What a diff has not seen, or is not about, never passes as clean: recording that was off in
# between, another process, a filter whose name fits nothing.
no_verdict() { # WHY OPTIONS...
	local why=$1
	shift
	for ask in --exit-code '--fail-above 100g'; do
		# shellcheck disable=SC2086 # words
		expect_status 2 heapstory diff $ask "$@" >rows 2>err
		[ -s rows ] && fail "rows although there is no verdict: $*"
		grep -q "^heapstory: no verdict is possible: .*$why" err || fail "$*: $(cat err)"
	done
	heapstory diff "$@" --json >gap.json 2>err || fail "$*: $(cat err)"
}
verdict() { # STATUS OPTIONS...
	local want=$1 got
	shift
	heapstory diff "$@" >rows 2>err
	got=$?
	[ $got = "$want" ] || fail "status $got, not $want: $*: $(cat rows err)"
}

start c heapstory run -o out -- "$PROGRAMS/cache_insert"
wait_mark c 1 || finish
heapstory snap out/store.live -o 1.hs >/dev/null
heapstory snap out/store.live -o 1b.hs >/dev/null
heapstory mode out/store.live off >/dev/null
go c
wait_mark c 2 || finish
heapstory snap out/store.live -o off.hs >/dev/null
heapstory mode out/store.live live >/dev/null
heapstory snap out/store.live -o 2.hs >/dev/null
go c
wait_mark c 3 || finish
heapstory snap out/store.live -o 3.hs >/dev/null
finish_program c || fail "ended with $?"
no_verdict 'recording was off for .* between' 1.hs 2.hs
check_json gap.json 'any("recording was off" in n for n in j["coverage"]["notes"])'
no_verdict 'recording was off or had stopped when AFTER' 1.hs off.hs
no_verdict 'recording was off for' 1.hs 3.hs
# nothing was off between these
verdict 0 2.hs 3.hs --exit-code
grep -q 'recording was off' rows && fail "a gap without one: $(cat rows)"
heapstory trend 1.hs 2.hs 3.hs --json >trend.json
check_json trend.json 'any("recording was off for" in n for n in j["coverage"]["notes"])'
heapstory trend 1.hs 1b.hs 2.hs | tr '\n' ' ' | grep -q 'recording was off for' || fail "trend says nothing of the gap"

start d heapstory run -o out2 -- "$PROGRAMS/cache_insert"
for mark in 1 2; do
	wait_mark d $mark || finish
	heapstory snap out2/store.live -o d$mark.hs >/dev/null
	go d
done
finish_program d || fail "ended with $?"
no_verdict 'different processes.*--across' 1.hs d1.hs
verdict 0 1.hs d1.hs --exit-code --across
verdict 1 1.hs d2.hs --fail-above 46k --across
verdict 2 1.hs d2.hs --across

no_verdict "no block is of function 'nosuchfn'" d1.hs d2.hs --function nosuchfn
no_verdict "no block is of module 'cache_inser'" d1.hs d2.hs --module cache_inser
no_verdict "no block is of thread" d1.hs d2.hs --thread nobody
no_verdict "NoSuch" d1.hs d2.hs --class NoSuch
# names that fit, and sizes and ages that no block has: clean
verdict 0 d1.hs d2.hs --exit-code --min 1g
verdict 0 d1.hs d2.hs --exit-code --function cache_insert --min 1g
verdict 1 d1.hs d2.hs --exit-code --function cache_insert
printf '%s\n' 'function cache_insert # known' >accepted
verdict 0 d1.hs d2.hs --exit-code --function cache_insert --ignore accepted
finish

# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# A program's file is removed while it runs. Its store has no names any more, but exit.hs beside it
# has, and that is said; not where exit.hs is of another process, or has none.
cp "$PROGRAMS/cache_insert" gone
start c heapstory run -o out -- ./gone
wait_mark c 1 || finish
wait_held c '/gone$'
rm gone
finish_program c || fail "ended with $?"
heapstory heap out --json >store.json
heapstory heap out/exit.hs --json >exit.json
check_json exit.json 'any("cache_insert" in r["key"] for r in j["rows"])'
check_json store.json 'not any("cache_insert" in r["key"] for r in j["rows"])' \
	'any("exit.hs" in n and "has names" in n for n in j["coverage"]["notes"])'
heapstory run -o other -- "$PROGRAMS/cache_insert" </dev/null >/dev/null || fail "ended with $?"
cp other/exit.hs out/exit.hs
heapstory heap out --json >store.json
check_json store.json 'not any("has names" in n for n in j["coverage"]["notes"])'

# of followed children only those that did not become another program began with their parent's blocks
# shellcheck disable=SC2016 # that shell's
heapstory run --follow-children -o family -- sh -c '/bin/true; (exit 3); exit 0' || fail "ended with $?"
for child in family/child.*; do
	heapstory heap "$child" --json >child.json
	json child.json '(j["target"]["name"], any("began with the blocks" in n for n in j["coverage"]["notes"]))'
done | sort
finish

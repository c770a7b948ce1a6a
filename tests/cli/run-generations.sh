# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# A chain of three programs in one process: each image has its store, the last one exit.hs.
# shellcheck disable=SC2016 # the inner shells expand it
heapstory run -o out -- sh -c 'exec sh -c "exec \"$0\"" "$0"' "$PROGRAMS/cache_insert" </dev/null >/dev/null ||
	fail "ended with $?"
ls out
for f in out/*.[0-9] out/store.live; do
	[ -L "$f" ] && fail "$f is still a link"
	heapstory heap "$f" --json >heap.json || fail "$f cannot be read"
	json heap.json 'j["target"]["name"]'
done
heapstory heap out/exit.hs --json >heap.json
check_json heap.json 'j["target"]["name"] == "cache_insert"' 'j["target"]["generation"] == 2'
# in a folder on disk, where the first store is no link
heapstory run --store . -o disk -- sh -c 'exec true' || fail "--store ended with $?"
ls disk
compgen -G 'heapstory-*.store' && fail "a store was left behind"
finish

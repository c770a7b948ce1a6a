# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# history finds a block by an address inside it.
heapstory run -o out -- "$PROGRAMS/vec_growth" </dev/null >/dev/null || fail "run"
heapstory largest out/exit.hs -n 1 --json >largest.json
address=$(json largest.json 'j["rows"][0]["address"]')
inside=$(printf '%#x' $((address + 1000)))
heapstory history out/exit.hs "$inside" --json >history.json || fail "history"
check_json history.json "j['rows'][0]['address'] == '$address'" 'j["rows"][0]["contains_offset"] == 1000' \
	'j["rows"][0]["kind"] == "malloc"' 'j["rows"][0]["lineage"]["nr_steps"] == 19'
heapstory history out/exit.hs "$address" | grep -c journal_open
heapstory history out/exit.hs 0x10
expect_status 2 heapstory history out/exit.hs nonsense
finish

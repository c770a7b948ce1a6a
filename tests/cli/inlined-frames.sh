# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Inlined functions are frames: with file and line, marked, and the site is found among them.
heapstory run -o out -- "$PROGRAMS/inlined" </dev/null >/dev/null || fail "run"
# the program's own, not what the loader and the C++ library need for themselves
heapstory heap out/exit.hs --zone inlined --by stack -n all --json >heap.json || fail "heap"
line_of() { grep -n "$1" "$TESTS/programs/inlined.cpp" | cut -d: -f1; }
check_json heap.json 'sorted((r["count"], r["bytes"]) for r in j["rows"]) == [(10, 240), (10, 10000)]'
row='[r for r in j["rows"] if r["bytes"] == 10000][0]'
# outwards from the allocator: the library's frames, then the program's
json heap.json "print('\n'.join(' '.join([f['function'], f['file'].split('/')[-1],
	'inlined' if f['inlined'] else '', 'runtime' if f['runtime'] else '']).rstrip()
	for f in ${row}['stack'] if f['file'] and f['function'].startswith(('app', 'main'))))" | grep -v None
check_json heap.json "[f['line'] for f in ${row}['stack'] if not f['runtime']][:4] == [
		$(line_of 'new std::vector'), $(line_of 'store(i, 1000)'), $(line_of 'read_row(i);'), $(line_of 'app::load(10)')]" \
	"all(f['column'] for f in ${row}['stack'] if f['line'])" \
	"len({f['address'] for f in ${row}['stack'] if f['function'].startswith('app::')}) == 1" \
	"any(f['runtime'] and f['inlined'] and 'vector' in f['function'] for f in ${row}['stack'])"
heapstory heap out/exit.hs --zone inlined --by site
heapstory heap out/exit.hs --zone inlined --by site --raw-names --json >raw.json
check_json raw.json 'len(j["rows"]) == 1 and j["rows"][0]["key"].startswith("_ZN3app5storeEim inlined.cpp:")'
heapstory heap out/exit.hs --zone inlined --by stack | sed 's/cpp:[0-9]*/cpp:N/'
heapstory heap out/exit.hs --zone inlined --by stack --all-frames | grep -c 'stl_vector.h:[0-9]* (inlined)' >folded
[ "$(cat folded)" -gt 1 ] || fail "--all-frames shows no inlined frames of the library"
finish

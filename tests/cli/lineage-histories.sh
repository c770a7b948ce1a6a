# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Random histories of buffers: the table has what the program itself knows; SEEDS="1 2 3" for more.
for seed in ${SEEDS:-1 2 3}; do
	start "$seed" heapstory run -o "out$seed" --no-exit-snapshot -- "$PROGRAMS/histories" "$seed"
	wait_mark "$seed" 1 || finish
	heapstory snap "out$seed/store.live" -o "$seed.hs" >/dev/null || fail "snap, seed $seed"
	finish_program "$seed" || fail "seed $seed ended with $?"
	heapstory check "$seed.hs" >/dev/null || fail "seed $seed: the snapshot is not whole"
	heapstory heap "$seed.hs" --addresses all -n all --json >"$seed.json" || fail "heap, seed $seed"
	check_json "$seed.json" 'j["coverage"]["events_lost"] == 0'
	"$PYTHON" "$TOOLS/histories.py" "$seed.out" "$seed.json" >"$seed.said" || fail "seed $seed: $(cat "$seed.said")"
	echo "seed $seed: $(head -n 1 "$seed.said")" >>figures
done
finish

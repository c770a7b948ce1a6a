# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Programs that limit their address space: what they do is what they do untraced, and is recorded.
same() { # NAME HOW [OPTION]...: traced it prints what it prints untraced; snapshots in NAME
	local name=$1 how=$2
	shift 2
	"$PROGRAMS/limits" "$how" >plain.out
	expect_status $? heapstory run -o "$name" "$@" -- "$PROGRAMS/limits" "$how" >traced.out 2>"$name.err"
	diff -u plain.out traced.out || fail "$name: what the program does"
}
kept() { # SNAPSHOT N: has so many live blocks of the program's, and lost nothing
	heapstory heap "$1" --by function -n all --json >heap.json || fail "no $1"
	check_json heap.json "[r['count'] for r in j['rows'] if r['key'] == 'got_block'] == [$2]" \
		"j['coverage']['events_lost'] == 0"
}
for how in setrlimit setrlimit64 prlimit prlimit64 pid odd; do
	same $how $how
	kept $how/exit.hs 100
done
same fork fork
kept fork/exit.hs 100
same vfork vfork
kept vfork/exit.hs 100
same forked fork --follow-children
kept forked/exit.hs 100
kept forked/child.*/exit.hs 100
same vforked vfork --follow-children
kept vforked/exit.hs 100
kept vforked/child.*/exit.hs 100
same threads threads
kept threads/exit.hs 200000

# The store fills up: recording stops, the program goes on, and that is said.
same small small
sed -E 's/after [0-9.]+ m?s/after TIME/; s/[0-9.]+ m?s after/TIME after/' small.err
heapstory heap small/exit.hs --json >heap.json
check_json heap.json 'j["coverage"]["events_lost"] > 0' 'j["coverage"]["mode"] == "stopped"'
heapstory run -o nested --follow-children -- sh -c "$PROGRAMS/limits small; :" 2>&1 |
	sed -E 's/stopped [0-9.]+ m?s/stopped TIME/; s/child\.[0-9]+/child.PID/'

# All of it is locked: only what the store uses has memory, with the right to lock or a limit.
lock() { # NAME: the store is not larger than 1 GiB, to be safe
	(
		ulimit -f 1048576
		same "$1" lock
		exit "${FAILED:-0}"
	) || fail "$1"
	kept "$1/exit.hs" 50000
	[ "$(du -k "$1/store.live" | cut -f 1)" -lt 100000 ] || fail "$1: $(du -k "$1/store.live")"
}
lock locked
unprivileged() {
	ulimit -l 200000 2>/dev/null || exit
	exec setpriv --bounding-set=-ipc_lock --inh-caps=-ipc_lock "$@"
}
if (unprivileged true) 2>/dev/null; then
	(unprivileged "$PROGRAMS/limits" lock) >plain.out
	(ulimit -f 1048576 && unprivileged heapstory run -o few -- "$PROGRAMS/limits" lock) >traced.out
	diff -u plain.out traced.out || fail "locking within a limit"
	kept few/exit.hs 50000
else
	echo "locking within a limit: not to be had here" >>figures
fi

# A limit from the start: nearly all of it is left to the program.
fill() { ulimit -v 300000 && "$@" "$PROGRAMS/limits" fill; }
plain=$(fill)
traced=$(fill heapstory run -o filled -- 2>fill.err)
[ "$traced" -gt $((plain * 8 / 10)) ] || fail "$traced blocks under a limit, $plain untraced"
echo "blocks of 1 MiB under a limit of 300 MB: $traced, untraced $plain" >>figures
kept filled/exit.hs "$traced"
finish

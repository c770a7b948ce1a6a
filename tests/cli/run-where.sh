# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Where the store lies: memory where there is room, else the output folder, else nowhere.
where() { heapstory "$@" | sed -n "s|^HEAPSTORY_TRACE_PLACE=$WORK|WORK|p; s|^HEAPSTORY_TRACE_PLACE=||p"; }
mkdir asked
where env -o a --store asked
expect_status 2 heapstory env -o b --store no-such-folder
heapstory run -o c --store asked -- true || fail "--store ended with $?"
if [ ! -f c/store.live ] || [ -L c/store.live ]; then fail "the store did not come home"; fi
ls asked
[ "$(stat -c %a c c/store.live c/exit.hs | tr '\n' ' ')" = "700 600 600 " ] || fail "modes: $(stat -c %a c/*)"
# small file systems, where we may mount some
if [ "$(id -u)" != 0 ] || ! unshare -m true 2>/dev/null; then
	[ -n "${FAILED-}" ] && finish
	skip "no mount namespace of its own: small file systems were not tried"
fi
export -f where
mkdir small
unshare -m bash -c '
	mount -t tmpfs -o size=64m none /dev/shm
	where env -o d
	heapstory run -o e -- true && ls e
	mount -t tmpfs -o size=4m none small
	where env -o small/a
	heapstory run -o small/b -- true || echo "status $?"
	ls small
	head -c 8m /dev/zero >small/fill 2>/dev/null
	umount /dev/shm
	heapstory run -o small/c -- true || echo "status $?"
	ls small
'
finish

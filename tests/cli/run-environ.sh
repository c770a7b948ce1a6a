# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Nothing of heapstory is in environ nor in /proc/self/environ: byte for byte what is there
# untraced, also after an exec, under a shell, and with a preload of the user's own.
as_untraced() { # NAME COMMAND...
	local name=$1
	shift
	env -u _ "$@" >plain 2>&1
	env -u _ heapstory run -o "out-$name" -- "$@" >traced 2>&1
	grep -v '^heapstory: ' traced | cmp - plain || { fail "$name"; diff plain traced; }
	grep -q . plain || fail "$name: no output"
	heapstory check "out-$name/exit.hs" >/dev/null || fail "$name: no whole exit snapshot"
}
as_untraced plain env FIRST=1 "$PROGRAMS/environ" LAST=2
as_untraced exec "$PROGRAMS/environ" again
# shellcheck disable=SC2016
# a shell that executes the program in its own place
as_untraced sh sh -c 'B=2 exec "$0" again' "$PROGRAMS/environ"
# and one whose child it is, which is not traced
# shellcheck disable=SC2016
as_untraced child bash -c 'A=1 "$0"; true' "$PROGRAMS/environ"
# the shell's own
# shellcheck disable=SC2016 # not for this shell; $( ) takes the zeros off the end
as_untraced bash bash -c 'printf "%s\n" "$(tr "\0" "\n" </proc/$$/environ)"'
for preload in libm.so.6 'libm.so.6 libdl.so.2' ''; do
	as_untraced preload env LD_PRELOAD="$preload" ZZ=1 "$PROGRAMS/environ" again
	rm -rf out-preload
done
# by hand the library stands before or behind the user's own: only zeros are left of it
for preload in "$BUILD/libheapstory.so:libm.so.6" "libm.so.6:$BUILD/libheapstory.so"; do
	env LD_PRELOAD="$preload" HEAPSTORY_TRACE_OPTIONS=depth=20 ZZ=1 "$PROGRAMS/environ" |
		sed 's/\\000\(\\000\)*/\\000/g' >traced
	env LD_PRELOAD=libm.so.6 ZZ=1 "$PROGRAMS/environ" | cmp - traced || fail "by hand: $preload"
done
for link in "$XDG_RUNTIME_DIR"/heapstory/*; do # nobody looked after these two
	rm -f "$(readlink "$link")"
done
finish

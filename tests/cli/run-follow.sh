# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Children with --follow-children: a folder each, finished like the program's own.
spawn='import subprocess
for i in range(3): subprocess.run(["/bin/ls", "/"], stdout=subprocess.DEVNULL)'
heapstory run -o out --follow-children -- "$PYTHON" -c "$spawn" || fail "ended with $?"
children=(out/child.*)
[ ${#children[@]} = 3 ] || fail "children: $(ls out)"
for d in out/child.*; do
	[ -L "$d/store.live" ] && fail "$d/store.live is still a link"
	heapstory check "$d/exit.hs" >/dev/null || fail "$d/exit.hs"
	heapstory heap "$d" --json >heap.json
	json heap.json 'j["target"]["name"]'
done
# without the option run says how many there were
heapstory run -o alone -- "$PYTHON" -c "$spawn"
compgen -G 'alone/child.*' >/dev/null && fail "a child was traced all the same"
finish

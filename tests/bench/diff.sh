#!/bin/bash
# SPDX-License-Identifier: MIT
# diff.sh [BLOCKS]: time and memory of a diff of two snapshots with so many blocks each, in which a
# tenth, and then all of them, were freed and as many born. `make unit` builds what it needs.
set -eu
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
build=${BUILD:-$here/../../build}
blocks=${1:-10000000}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for churn in 10 100; do
	echo "$blocks blocks each, $churn % of them others:"
	"$build/bench/big_snapshots" "$blocks" $churn "$work/before.hs" "$work/after.hs"
	for by in site stack; do
		python3 - "$build/heapstory" diff "$work/before.hs" "$work/after.hs" --by $by -n 1 <<-'END'
			import os, subprocess, sys, time
			began = time.monotonic()
			child = subprocess.Popen(sys.argv[1:], stdout=subprocess.PIPE, text=True)
			last = child.stdout.read().splitlines()[-1]
			_, status, usage = os.wait4(child.pid, 0)
			print('  --by %-5s  %.2f s, %.2f s of CPU, %d MiB%s' % (
			    sys.argv[6], time.monotonic() - began, usage.ru_utime + usage.ru_stime,
			    usage.ru_maxrss // 1024, ', status %d' % status if status else ''))
			if 'total' not in last:
			    sys.exit('unexpected: ' + last)
		END
	done
done

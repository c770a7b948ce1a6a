#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""classes.py LOG HEAP.json [LIMIT] - blocks have the class that the program says they have.

LOG has lines "BLOCK address class", the address somewhere in the block; HEAP.json is
`heap --addresses all -n all --json`. Prints the share of the blocks and of the bytes told of that
have the right class, and of those with a wrong one ("malloc in ..." is not wrong, only unknown); and
what is wrong. Status 1 if less than 95 % of either are right or more than 0.5 % wrong.
"""
import bisect
import collections
import json
import sys

rows = sorted((int(row["address"], 16), row["usable"], row["size"], row["class"])
              for row in json.load(open(sys.argv[2]))["rows"])
starts = [row[0] for row in rows]
told = {}
for line in open(sys.argv[1], errors="replace"):
    word, _, rest = line.rstrip("\n").partition(" ")
    if word == "BLOCK":
        address, _, name = rest.partition(" ")
        i = bisect.bisect_right(starts, int(address, 16)) - 1
        if i < 0 or int(address, 16) >= starts[i] + max(rows[i][1], 1):
            sys.exit("no block at %s (%s)" % (address, name))
        told[i] = name
right, wrong, all_ = [0, 0], [0, 0], [0, 0]
misses = collections.Counter()
for i, name in told.items():
    size, got = rows[i][2], rows[i][3]
    verdict = right if got == name else None if got.startswith("malloc in") else wrong
    for sums in (all_, verdict):
        if sums is not None:
            sums[0] += 1
            sums[1] += size
    if got != name:
        misses[name, got] += 1
for (name, got), nr in misses.most_common(20):
    print("%d of %s: %s" % (nr, name, got))
share = [100 * part[k] / all_[k] for part in (right, wrong) for k in (0, 1)]
print("right: %.1f %% of blocks, %.1f %% of bytes; wrong: %.1f %%, %.1f %%; told of %d of %d blocks"
      % (*share, len(told), len(rows)))
sys.exit(not (min(share[:2]) >= 95 and max(share[2:]) <= 0.5))

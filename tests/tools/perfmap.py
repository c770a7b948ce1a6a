#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""perfmap.py MAP HEAP.json - frames of code made at run time have the names that the map gives them.

MAP is the perf map file as it was at the snapshot, HEAP.json `heap --by stack -n all --json` of it.
The rule, once more and by itself: the last line that covers the address has it. Prints how many
frames were compared and how many of them lie where lines overlap; status 1 if a name differs.
"""
import json
import sys

lines = []
for line in open(sys.argv[1], encoding="utf-8", errors="surrogateescape", newline="\n"):
    if line.endswith("\n"):
        start, size, name = line[:-1].split(" ", 2)
        lines.append((int(start, 16), int(size, 16), name))

def names_at(address):
    return [name for start, size, name in lines if start <= address < start + size]

frames = {}
for row in json.load(open(sys.argv[2]))["rows"]:
    for frame in row["stack"]:
        if frame["module"] is None:
            frames[int(frame["address"], 16)] = frame["function"]
overlaps = wrong = 0
for address, function in sorted(frames.items()):
    names = names_at(address - 1)
    overlaps += len(set(names)) > 1
    if function != (names[-1] if names else None):
        wrong += 1
        print("0x%x is '%s', expected '%s'" % (address, function, names[-1] if names else None))
print("frames", len(frames), "overlaps", overlaps)
sys.exit(wrong != 0)

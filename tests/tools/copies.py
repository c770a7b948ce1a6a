#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""copies.py - growth by copying: what was found, beside what a program says about itself.

usage: copies.py found OUTPUT BLOCKS.json   at least 90 % of the steps, and none too many
       copies.py false NAME STORE           at most 0.1 % of the frees are taken for growth

`found`: OUTPUT has lines "BUFFER 0xADDRESS STEPS" or one "TOTAL STEPS"; BLOCKS.json is what `heap
--addresses all --min 128 -n all --json` says at the same moment. `false` reads the store of a process that is
gone; all that is counted there is called false. Prints a line; status 1 if it is not so.
"""
import json, struct, sys

SHARE = 0.9
FALSE = 0.001
ARRAYS, ARRAY_SIZE, NR_EXTENTS = 512, 312, 36
RECORDS, THREADS = 0, 6


def found(output, blocks):
    steps = {}
    for row in json.load(open(blocks))['rows']:
        if row['lineage'] and row['lineage']['inferred']:
            steps[int(row['address'], 16)] = row['lineage']['nr_steps']
    want, total = {}, None
    for line in open(output):
        words = line.split()
        if words[:1] == ['BUFFER']:
            want[int(words[1], 16)] = int(words[2])
        elif words[:1] == ['TOTAL']:
            total = int(words[1])
    if total is None:
        total = sum(want.values())
        hits = sum(min(n, steps.get(at, 0)) for at, n in want.items())
        over = sum(max(0, steps.get(at, 0) - n) for at, n in want.items())
    else:
        hits, over = min(total, sum(steps.values())), max(0, sum(steps.values()) - total)
    print('%d of %d steps found: %.1f %%; %d too many' % (hits, total, 100 * hits / total, over))
    return hits >= SHARE * total and over <= FALSE * total


class Store:
    def __init__(self, path):
        self.data = open(path, 'rb').read()

    def elements(self, array, size):
        at = ARRAYS + array * ARRAY_SIZE
        elem_size, shift, count, ready = struct.unpack_from('<IIQQ', self.data, at)
        assert elem_size == size, 'array %d has elements of %d bytes' % (array, elem_size)
        extents = struct.unpack_from('<%dQ' % NR_EXTENTS, self.data, at + 24)
        for nr in range(min(count, ready)):
            k = ((nr >> shift) + 1).bit_length() - 1
            yield extents[k] + (nr - (((1 << k) - 1) << shift)) * elem_size

    def inferred_and_frees(self):
        inferred = births = live = 0
        for at in self.elements(THREADS, 256):
            births += struct.unpack_from('<Q', self.data, at + 16)[0]
            inferred += struct.unpack_from('<Q', self.data, at + 120)[0]
        for at in self.elements(RECORDS, 32):
            live += self.data[at:at + 8] != bytes(8)
        return inferred, births - live


def false(name, path):
    inferred, frees = Store(path).inferred_and_frees()
    print('%s: %d of %d frees taken for growth: %.4f %%' % (name, inferred, frees, 100 * inferred / frees))
    return frees > 1000 and inferred <= FALSE * frees


if __name__ == '__main__':
    sys.exit(not {'found': found, 'false': false}[sys.argv[1]](*sys.argv[2:]))

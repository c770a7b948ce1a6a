#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""histories.py OUTPUT BLOCKS.json - the table of blocks beside what programs/histories says itself.

BLOCKS.json is what `heap --addresses all -n all --json` says at MARK 1. Exact have to be the blocks
that this program made, their sizes, and the histories of those that were never copied; of the others
the sizes and steps have to be such as were there. A history with another's before it is a false
link: as each call has another stack and all else is chance, at most 1 buffer in 100 may have one.
Status 1 if it is not so.
"""
import json
import sys

FALSE = 0.01


def main():
    buffers = {}
    for line in open(sys.argv[1]):
        words = line.split()
        if words[:1] == ['BUFFER']:
            buffers[int(words[1], 16)] = list(map(int, words[2:]))
    rows = {int(row['address'], 16): row for row in json.load(open(sys.argv[2]))['rows']
            if any((frame['function'] or '').startswith('make_') for frame in row['stack'])}
    bad = ['%#x: not there' % at for at in buffers.keys() - rows.keys()]
    bad += ['%#x: a block that there is not' % at for at in rows.keys() - buffers.keys()]
    linked = copied = 0
    for at in buffers.keys() & rows.keys():
        size, born, grown, shrunk, copies, least, most = buffers[at]
        lineage = rows[at]['lineage']
        if rows[at]['size'] != size:
            bad.append('%#x: size %d, not %d' % (at, rows[at]['size'], size))
        if lineage is None:
            if grown + shrunk and not copies:
                bad.append('%#x: no history' % at)
            continue
        found = lineage['born']['size'], lineage['nr_steps'], lineage['nr_shrinks']
        if copies:
            copied += lineage['inferred']
            linked += not (least <= found[0] <= most and found[1] <= grown + copies and found[2] <= shrunk)
        elif lineage['inferred']:
            linked += 1
        elif found != (born, grown, shrunk):
            bad.append('%#x: born, grown, shrunk %s, not %s' % (at, found, (born, grown, shrunk)))
        if lineage['steps'] and grown and not copies and lineage['steps'][-1]['size'] > most:
            bad.append('%#x: a step to %d' % (at, lineage['steps'][-1]['size']))
    if len(buffers) < 1000 or not copied:
        bad.append('%d buffers, %d of them found to be copied' % (len(buffers), copied))
    if linked > FALSE * len(buffers):
        bad.append('too many false links')
    print('%d buffers, %d of them found to be copied; %d false links' % (len(buffers), copied, linked))
    print('\n'.join(bad[:20]))
    return bool(bad)


if __name__ == '__main__':
    sys.exit(main())

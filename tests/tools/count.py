#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""count.py - compares the store of a process that is gone with the counting preload's table.

usage: count.py HEAPSTORY DIR [--threads N]

DIR is the output folder of `heapstory run`, or a store in it; the table is
$COUNT_FILE.PID, see tests/programs/count_preload.c. Both have to hold the same blocks: equal in
number, bytes, and in address and size of each. A process that ended with N threads alive besides
the one that ended it may have one event in each of them half done: with --threads N that many
differences are allowed, and each is named on standard error. Prints what is wrong.
"""
import argparse, json, os, struct, subprocess, sys


def table(path):
    """Blocks of the counting preload: only the parts of the sparse file that hold data are read."""
    blocks, fd, at = {}, os.open(path, os.O_RDONLY), 0
    end = os.fstat(fd).st_size
    while at < end:
        try:
            start = os.lseek(fd, at, os.SEEK_DATA)
        except OSError:
            break
        at = os.lseek(fd, start, os.SEEK_HOLE)
        start -= start % 16
        data = os.pread(fd, at - start, start)
        for address, size1 in struct.iter_unpack('<QQ', data[:len(data) // 16 * 16]):
            if size1:
                blocks[address] = size1 - 1
    os.close(fd)
    return blocks


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('heapstory')
    parser.add_argument('dir')
    parser.add_argument('--threads', type=int, default=0)
    options = parser.parse_args()

    store = options.dir if options.dir.endswith('.live') else options.dir + '/store.live'
    ask = [options.heapstory, 'heap', store, '--addresses', 'all', '-n', 'all', '--json']
    done = subprocess.run(ask, stdout=subprocess.PIPE)
    if done.returncode:
        print('%s: status %d' % (' '.join(ask), done.returncode))
        return 1
    answer = json.loads(done.stdout)
    store = {int(row['address'], 16): row['size'] for row in answer['rows']}
    pid = answer['target']['pid']
    path = '%s.%d' % (os.environ['COUNT_FILE'], pid)
    if not os.path.exists(path):
        print('the counting preload left no table for process %d' % pid)
        return 1
    counted = table(path)

    bad = []
    if len(store) != len(answer['rows']):
        bad.append('the store names an address twice')
    totals = answer['totals']
    if (totals['count'], totals['bytes']) != (len(store), sum(store.values())):
        bad.append('totals are %s, rows %d blocks, %d bytes' % (totals, len(store), sum(store.values())))
    differ = sorted(a for a in store.keys() | counted.keys() if store.get(a) != counted.get(a))
    for address in differ:
        print('%s: store %s, counting preload %s' % (hex(address), store.get(address), counted.get(address)),
              file=sys.stderr if len(differ) <= options.threads else sys.stdout)
        if len(differ) > options.threads + 20:
            break
    if len(differ) > options.threads:
        bad.append('%d differences: store %d blocks, %d bytes; counting preload %d blocks, %d bytes' % (
            len(differ), len(store), sum(store.values()), len(counted), sum(counted.values())))
    if not counted:
        bad.append('the counting preload saw nothing')
    for line in bad:
        print(line)
    return bool(bad)


sys.exit(main())

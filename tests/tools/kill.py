#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""kill.py - kills a traced program at a random moment, again and again, and reads its store.

usage: kill.py HEAPSTORY PROGRAM FOLDER [--kills N] [--seed N]

PROGRAM is tests/programs/kill_journal, whose four threads write down what they own in a shared
mapping. The kills are spread over insert, resize, grow (tables grow) and snapshot (a snapshot is
being taken). After each, store and journal may differ by one event per thread, the one that the
journal has as under way. Prints what is wrong and, on standard error, a summary.
"""
import argparse, json, mmap, os, random, signal, struct, subprocess, sys, time

THREADS, ENTRIES = 4, 1 << 14
OWNER = 64 + 16 * ENTRIES


def owners(path):
    """[(active, block before, size asked, {address: size})] and the number of operations."""
    result, ops = [], 0
    with open(path, 'rb') as f, mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ) as m:
        for i in range(THREADS):
            at = 64 + i * OWNER
            active, index, new_size, nr, n = struct.unpack_from('<5Q', m, at)
            ops += n
            entries = [struct.unpack_from('<2Q', m, at + 64 + 16 * k) for k in range(nr)]
            blocks = {a: s - 1 for a, s in entries if s}
            before = entries[index][0] if active and index < nr and entries[index][1] else None
            result.append((active, before, new_size, blocks))
    return result, ops


def compare(store, journal):
    """What differs beyond one event per thread; and how many threads had one half done."""
    bad, half = [], 0
    for i, (active, before, new_size, blocks) in enumerate(journal):
        own = {a: s for a, s in store.items() if s % 4 == i}
        extra = {a: s for a, s in own.items() if blocks.get(a) != s}
        gone = {a: s for a, s in blocks.items() if own.get(a) != s}
        half += bool(extra or gone)
        if len(extra) > 1 or extra and (active not in (1, 3) or list(extra.values()) != [new_size]):
            bad.append('thread %d (operation %d): only in the store: %s' % (i, active, list(extra.items())[:4]))
        if len(gone) > 1 or gone and (active not in (2, 3) or list(gone) != [before]):
            bad.append('thread %d (operation %d): only in the journal: %s' % (i, active, list(gone.items())[:4]))
    return bad, half


def one_kill(options, number, how, chance):
    out, path = '%s/out%d' % (options.folder, number), '%s/journal%d' % (options.folder, number)
    run = subprocess.Popen([options.heapstory, 'run', '-o', out, '--no-exit-snapshot', '--', options.program, path,
                            'insert' if how == 'snapshot' else how],
                           stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if not run.stdout.readline().startswith(b'MARK'):
        return ['the program did not start: %s' % run.stderr.read().decode()], 0, 0, False
    with open(path, 'rb') as f:
        pid = struct.unpack('<Q', f.read(8))[0]
    # all of the growth takes some milliseconds
    time.sleep(chance.uniform(0, 0.008) if how == 'grow' else chance.uniform(0.001, 0.06))
    snap = None
    if how == 'snapshot':
        snap = subprocess.Popen([options.heapstory, 'snap', out + '/store.live', '-o', out + '/killed.hs'],
                                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        time.sleep(chance.uniform(0, 0.012))
    os.kill(pid, signal.SIGKILL)
    _, said = run.communicate(timeout=60)
    bad = []
    if run.returncode not in (-9, 137):
        bad.append('run ended with %d: %s' % (run.returncode, said.decode()))
    if snap:
        _, said = snap.communicate(timeout=60)
        if snap.returncode == 0:
            done = subprocess.run([options.heapstory, 'check', out + '/killed.hs'], capture_output=True)
            if done.returncode:
                bad.append('the snapshot does not pass check: %s' % (done.stdout + done.stderr).decode()[-300:])
        elif len(said.splitlines()) != 1:
            bad.append('snap failed with %d: %s' % (snap.returncode, said.decode()))
    done = subprocess.run([options.heapstory, 'heap', out + '/store.live', '--addresses', 'all', '-n', 'all', '--json'],
                          capture_output=True)
    if done.returncode:
        return bad + ['heap: status %d: %s' % (done.returncode, done.stderr.decode())], 0, 0, False
    rows = json.loads(done.stdout)['rows']
    store = {int(row['address'], 16): row['size'] for row in rows
             if any((f['function'] or '').startswith('journal_') for f in (row['stack'] or [])[:3])}
    journal, ops = owners(path)
    more, half = compare(store, journal)
    growing = how == 'grow' and ops < THREADS * ENTRIES
    return bad + more, half, ops, growing


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('heapstory')
    parser.add_argument('program')
    parser.add_argument('folder')
    parser.add_argument('--kills', type=int, default=100)
    parser.add_argument('--seed', type=int, default=1)
    options = parser.parse_args()
    chance, failed, halves, total, grew = random.Random(options.seed), 0, 0, 0, 0
    for number in range(options.kills):
        how = ('insert', 'resize', 'grow', 'snapshot')[number % 4]
        bad, half, ops, growing = one_kill(options, number, how, chance)
        halves += half
        total += ops
        grew += growing
        failed += bool(bad)
        for line in bad:
            print('kill %d, %s: %s' % (number, how, line))
        if not bad:
            os.remove('%s/journal%d' % (options.folder, number))
            subprocess.run(['rm', '-rf', '%s/out%d' % (options.folder, number)])
    print('%d kills, %d failed, %d operations, %d threads with an event half done, %d killed while '
          'they grew' % (options.kills, failed, total, halves, grew), file=sys.stderr)
    return bool(failed)


sys.exit(main())

# SPDX-License-Identifier: MIT
"""gdb.py - for gdb -x: runs a program under gdb.so and compares each stack with gdb's own.

A stack is compared from the hook's caller up to the first frame in code without unwind data
(gdb.c says where); gdb guesses there by looking at instructions. The environment names the library
(GDB_LIBRARY), how often to stop (GDB_EVERY) and where the counts go (GDB_OUT); stacks that differ
are printed there behind them.
"""
import os
import struct

import gdb

STOPS_MAX = 2000
PLAIN = (gdb.NORMAL_FRAME, gdb.SIGTRAMP_FRAME)
counts = dict.fromkeys(('stacks', 'frames', 'beyond', 'short', 'long', 'differ', 'lost'), 0)
shown = []


def ours():
    at = int(gdb.parse_and_eval('(unsigned long)&gdb_stack'))
    memory = gdb.selected_inferior()
    nr, sure, cut = struct.unpack('3Q', memory.read_memory(at, 24).tobytes())
    pcs = struct.unpack('%dQ' % nr, memory.read_memory(at + 24, 8 * nr).tobytes())
    return list(pcs[:sure]), sure == nr, cut


def theirs(first, limit):
    """gdb's frames from the one at `first` on, one more than `limit` at most."""
    pcs, frame = [], gdb.newest_frame()
    while frame is not None and len(pcs) <= limit:
        if frame.type() in PLAIN and (pcs or frame.pc() == first):
            pcs.append(frame.pc())
        frame = frame.older()
    return pcs


def judge(mine, whole, gdbs):
    if not mine or not gdbs:
        return 'lost'
    for a, b in zip(mine, gdbs):
        if a != b:
            return 'differ'
    if len(gdbs) < len(mine):
        return 'long'
    return 'short' if whole and len(gdbs) > len(mine) else ''


def compare():
    mine, whole, cut = ours()
    gdbs = theirs(mine[0] if mine else 0, len(mine))
    counts['stacks'] += 1
    counts['frames'] += len(mine)
    counts['beyond'] += not whole
    wrong = judge(mine, whole, gdbs)
    if not wrong:
        return
    counts[wrong] += 1
    if len(shown) < 5:
        shown.append('%s (cut: %d)\n  ours %s\n  gdb  %s' % (
            wrong, cut, ' '.join(map(hex, mine)), ' '.join(map(hex, gdbs))))


def main():
    for line in ('confirm off', 'breakpoint pending on', 'backtrace past-main on',
                 'backtrace past-entry on', 'backtrace limit unlimited', 'pagination off',
                 'detach-on-fork on', 'debuginfod enabled off'):
        try:
            gdb.execute('set ' + line)
        except gdb.error:
            pass  # not in this gdb
    gdb.execute('set exec-wrapper env LD_PRELOAD=%s' % os.environ['GDB_LIBRARY'])
    gdb.execute('handle all nostop noprint pass', to_string=True)
    gdb.execute('break gdb_stop', to_string=True)
    gdb.execute('run', to_string=True)
    while gdb.selected_inferior().pid and gdb.newest_frame().name() == 'gdb_stop':
        compare()
        if counts['stacks'] == STOPS_MAX:
            gdb.execute('kill')
            break
        gdb.execute('continue', to_string=True)
    with open(os.environ['GDB_OUT'], 'w') as out:
        for count in counts.items():
            out.write('%s %d\n' % count)
        out.write('\n'.join([''] + shown + ['']))


main()

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""inlines.py DRIVER FILE COUNT DETAILS [llvm] - frames and lines beside two other tools'.

COUNT pseudo-random addresses of FILE's code are looked up by DRIVER (tests/programs/sym_driver.c),
llvm-symbolizer and, unless `llvm` is given, eu-addr2line. Debug files are looked for under
$DEBUG_DIR, else /usr/lib/debug. Printed: one line that says what agrees well enough, by the
limits below; figures and examples go to the end of the file DETAILS. docs/symbolizer.md says what
the differences that are left are, and who is right.
"""
import collections
import os
import random
import re
import subprocess
import sys
import tempfile

driver, path, count, details = sys.argv[1], os.path.realpath(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
with_eu = 'llvm' not in sys.argv[5:]
debug_dir = os.environ.get('DEBUG_DIR', '/usr/lib/debug')
EU_MOST = 10000 if '/usr/lib/' in path and os.path.getsize(path) < 1 << 24 else 1000  # it takes 2 ms each in programs


def out(*command, stdin=None):
    with tempfile.TemporaryDirectory() as cache: # nothing that was found before
        return run(command, stdin, dict(os.environ, XDG_CACHE_HOME=cache))


def run(command, stdin, env):
    return subprocess.run(command, input=stdin, env=env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                          errors='replace').stdout


def text_sections():
    """[(start, end)] of what is code, the linker's own jump tables left out."""
    for line in out('readelf', '-SW', path).splitlines():
        m = re.match(r'\s*\[\s*\d+\] (\S+)\s+\S+\s+([0-9a-f]+) [0-9a-f]+ ([0-9a-f]+) \S+\s+(\w+)', line)
        if m and 'X' in m[4] and 'A' in m[4] and not m[1].startswith(('.plt', '.init', '.fini')):
            yield int(m[2], 16), int(m[2], 16) + int(m[3], 16)


def parse(text):
    """llvm-symbolizer's form: for each address [(function, file, line, column)], innermost first."""
    for block in text.split('\n\n'):
        rows = block.strip('\n').split('\n')
        if rows != ['']:
            yield [(rows[i], *re.match(r'(.*):(\d+):(\d+)', rows[i + 1]).groups())
                   for i in range(0, len(rows) - 1, 2)]


def parse_eu(text):
    """eu-addr2line's, with an address before each: the same, without columns that it leaves out."""
    frames, rows = [], text.splitlines()
    i = 0
    while i < len(rows):
        if rows[i].startswith('0x'):
            frames.append([])
            i += 1
            continue
        m = re.match(r'(.*?):(\d+)(?::(\d+))?(?: \(discriminator \d+\))?$', rows[i + 1])
        frames[-1].append((rows[i], m[1], m[2], m[3] or '0'))
        i += 2
    return frames


def stripped(name):
    return re.sub(r'((\.(cold|isra|part|constprop|lto_priv|llvm|localalias)(\.\d+)?)+|@+[A-Za-z0-9_.]+)$', '', name)


def any_ctor(name):
    """C1, C2 and the abstract C4 are one constructor to people; so with D."""
    return re.sub(r'([CD])[0-9](E|I)', r'\1x\2', name)


def symbols(*files):
    """Name: addresses, so that aliases can be told."""
    found = collections.defaultdict(set)
    for file in set(files):
        for line in out('readelf', '-sW', file).splitlines():
            w = line.split()
            if len(w) >= 8 and w[3] in ('FUNC', 'IFUNC', 'NOTYPE') and w[6] not in ('UND', 'ABS'):
                found[stripped(w[7])].add(w[1])
    return found


def same_file(ours, theirs):
    if os.path.normpath(ours) == os.path.normpath(theirs):
        return True
    # LLVM 14 puts a unit's folder in front of a path that begins with it, if it is a relative one
    return any(theirs == ours[:k] + '/' + ours for k in range(1, len(ours)) if ours[k] == '/')


def same_function(ours, theirs):
    ours, theirs = stripped(ours), stripped(theirs)
    if ours == theirs or any_ctor(ours) == any_ctor(theirs) or aliases[ours] & aliases[theirs]:
        return True
    # without a linkage name: they give DW_AT_name alone, we put its scopes in front
    return not theirs.startswith(('_Z', '_R')) and ours.endswith('::' + theirs)


def known(frames):
    return any(f[1] not in ('??', '') and f[2] != '0' for f in frames)


def compare(theirs, what, names):
    """Share of agreement on each count, over addresses that have DWARF."""
    wrong = {w: [] for w in what}
    total = 0
    for a, o, t in zip(order, ours, theirs):
        if not known(o) and not known(t):
            continue
        total += 1
        bad = {'file': not same_file(o[0][1], t[0][1]), 'line': o[0][2] != t[0][2], 'depth': len(o) != len(t)}
        if names:
            bad['function'] = not same_function(o[0][0], t[0][0])
            bad['chain'] = not bad['depth'] and not all(
                same_function(x[0], y[0]) and same_file(x[1], y[1]) and x[2:] == y[2:] for x, y in zip(o, t))
        for w in what:
            if bad[w]:
                wrong[w].append((hex(a), o, t))
    return total, wrong


def report(tool, total, wrong, limits):
    words = []
    with open(details, 'a') as log:
        for w, list_ in wrong.items():
            share = 1 - len(list_) / max(total, 1)
            print(f'{path}: {tool}: {w}: {len(list_)} of {total} differ ({100 * share:.2f} % agree)', file=log)
            for a, o, t in list_[:3]:
                print(f'    {a}\n\tours   {o}\n\ttheirs {t}', file=log)
            words.append(f'{w} ' + ('ok' if total and share >= limits[w] else f'{100 * share:.2f} %'))
    return f'{tool}: ' + ', '.join(words)


m = re.search(r'Build ID: ([0-9a-f]+)', out('readelf', '-n', path))
ident = m[1] if m else None
oracle = path
if ident and os.path.exists(f'{debug_dir}/.build-id/{ident[:2]}/{ident[2:]}.debug'):
    oracle = f'{debug_dir}/.build-id/{ident[:2]}/{ident[2:]}.debug'
random.seed(7)
sections = list(text_sections())
picked = set()
while len(picked) < min(count, sum(e - s for s, e in sections)):
    start, end = random.choices(sections, [e - s for s, e in sections])[0]
    picked.add(random.randrange(start, end))
order = sorted(picked)
aliases = symbols(path, oracle)
ours = list(parse(out(driver, '--raw', '--frames', '--debug-dir', debug_dir, *(['--build-id', ident] if ident else []),
                      path, stdin=''.join(f'{a:x}\n' for a in order))))
hexes = [f'{a:#x}\n' for a in order]
llvm = list(parse(out('llvm-symbolizer', '--functions=linkage', '--inlines', '--no-demangle', '--obj=' + oracle,
                      stdin=''.join(hexes))))
assert len(ours) == len(llvm) == len(order), (len(ours), len(llvm), len(order))
parts = [report('llvm-symbolizer', *compare(llvm, ('file', 'line', 'depth', 'function', 'chain'), True),
                {'file': .999, 'line': .999, 'depth': .999, 'function': .99, 'chain': .99})]
if with_eu:
    step = (len(order) - 1) // EU_MOST + 1
    order, ours = order[::step], ours[::step]
    eu = parse_eu(out('eu-addr2line', '-A', '-a', '-i', '-f', '-e', oracle, stdin=''.join(hexes[::step])))
    assert len(eu) == len(order), (len(eu), len(order))
    # It finds few inlined functions in what LLVM wrote.
    counted = ('file', 'line') + (() if 'rust_eh_personality' in out('readelf', '-sW', path) else ('depth',))
    parts.append(report('eu-addr2line', *compare(eu, counted, False), {'file': .98, 'line': .98, 'depth': .98}))
print(re.sub(r'\.so\..*', '.so', os.path.basename(path)) + ': ' + '; '.join(parts))

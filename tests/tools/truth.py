#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""truth.py - runs a program of tests/programs under heapstory and checks its TRUTH lines.

usage: truth.py HEAPSTORY PROGRAM [--source NAME] [-v] [argument or NAME=VALUE ...]

TRUTH lines stand in the comment at the top of the source: `TRUTH keyword marks key=value ...`.

  live M at= [via=] blocks= bytes=     live at mark M
  grow A B at= [via=] blocks= bytes=   change from mark A to mark B
  flat A B [at=] [via=]                no net growth, of this function or at all
  only A B [except=]                   nothing grows or shrinks but what other lines name
  rate A B count= at= [via=] blocks= bytes=   growth per operation, three decimals and one
  events A B born= freed= resized=     so many blocks were, in all
  largest M size= born= grows= ratio= inferred= at= via= birth=   the largest live block, its lineage
  lineage M at= [via=] size= born= grows= ratio= step= inferred= birth= blocks= first= latest=
                                       the blocks that grew and were resized there last; blocks=1 unless
                                       it says otherwise; first=1..2: they grew first between these marks
  growers M [at=] NAME=COUNT ...       through which functions the block grew, how often: the largest
                                       one, or that of the lineage line with this at
  trend at= shape= sure= grows= first= each= factor=   over all marks; first: the mark at which growth
                                       is seen first, each: what is gained from mark to mark
  suspects M some=A,B none=A,B         sites that are, and are not, among those of heap
  module A B name= blocks= bytes=      growth by the module of the first program frame
  mapgrow A B at= blocks= bytes=       change of the mappings that the program itself made
  maponly A B                          no mapping comes or goes but what mapgrow lines name
  exit code= or signal=                how the program ends

A word in brackets gives the arguments of the run a line belongs to; [*] is every run. `at` is the
innermost frame that is not the allocator's, libc's or a language runtime's; `via` is further out.
EMULATOR, a command in the environment, runs a program that was built for another machine; then
EMULATED_LIBRARY is the tracer for that one.
Beside TRUTH lines: every diff adds up, its sides are what `heap` says, a snapshot does not differ
from itself, and `check` finds each snapshot whole. Prints what is wrong; nothing if all is well.
"""
import collections, json, math, os, re, subprocess, sys, tempfile

TRUTH = re.compile(r'\s*(?:\*|//!)\s*TRUTH\s+(?:\[([^\]]*)\]\s+)?(\w+)\s*(.*)')
MODULES = re.compile(r'lib(c|m|dl|pthread|gcc_s|stdc\+\+|heapstory|jemalloc|tcmalloc\w*|mimalloc)[-.]|ld-|linux-vdso'
                     r'|count_preload|\[vdso')
RUNTIME = re.compile(r'<?(std|core|alloc|__gnu_cxx|__rustc|hashbrown)::|<(std|core|alloc)::|__rust|__rdl|__rg_'
                     r'|operator (new|delete)|<[^>]* as (std|core|alloc)::')
ALLOCATORS = re.compile(r'(__libc_|__)?(malloc|calloc|realloc|reallocarray|memalign|aligned_alloc|posix_memalign'
                        r'|valloc|pvalloc|free)$')
HEADERS = re.compile(r'^/rustc/|/rustlib/src/|/include/(\S+/)?(c\+\+|bits)/')  # of libc and language runtimes
PARTS = [(a, b) for a in ('count', 'bytes') for b in ('before', 'after', 'delta')] + \
    [(a, b) for a in ('born', 'freed', 'resized', 'survived') for b in ('count', 'bytes')]
problems = []


class Line:
    def __init__(self, keyword, text):
        words = text.split()
        self.keyword, self.text = keyword, keyword + ' ' + text
        self.marks = [int(w) for w in words if w.isdigit()]
        self.want = dict(w.split('=', 1) for w in words if '=' in w)


def wrong(what, got):
    problems.append('%s: %s' % (what, got))


def truth_lines(source, run):
    lines = [TRUTH.match(line) for line in open(source)]
    lines = [m for m in lines if m]
    own = [Line(m[2], m[3]) for m in lines if (m[1] or '') == run]
    every = [Line(m[2], m[3]) for m in lines if m[1] == '*']
    if run and any(line.keyword == 'exit' for line in own):
        every = [line for line in every if line.keyword != 'exit']
    return own + every


def bare(function):
    """Without arguments, generics and return type."""
    name = function
    while (shorter := re.sub(r'<[^<>]*>|\([^()]*\)', '', name)) != name:
        name = shorter
    return name if 'operator ' in name else name.split(' ')[-1] or function


def simple(frame):
    """The last part of a function's path: 'a::B<T>::f(int)' and 'a::B::f::h0123...' are f."""
    name = frame['function'] or '?'
    name = re.sub(r'::h[0-9a-f]{16}$|@.*|\.(isra|part|constprop|llvm)\.?\d*$', '', name)
    while (shorter := re.sub(r'<[^<>]*>|\([^()]*\)', '', name)) != name:
        name = shorter
    return [part for part in name.split('::') if part][-1].split(' ')[-1] if name.strip(':') else '?'


def is_program(frame):
    name = frame['function'] or '?'
    return not (MODULES.match(os.path.basename(frame['module'] or '')) or RUNTIME.match(name)
                or RUNTIME.match(bare(name)) or ALLOCATORS.match(name) or HEADERS.search(frame['file'] or ''))


def outward(stack):
    stack = stack or []
    site = next((i for i, frame in enumerate(stack) if is_program(frame)), len(stack))
    return [simple(frame) for frame in stack[site:]] or ['?']


def is_at(row, line):
    names = outward(row['stack'])
    via = line.want.get('via')
    return names[0] == line.want.get('at') and (not via or via in names[1:])


def differs(want, got):
    bad = ['%s=%s' % (k, v) for k, v in got.items()
           if k in want and str(v) not in want[k].split('|')]
    return ' '.join(bad)


class Run:
    def __init__(self, heapstory, program, arguments, folder):
        self.heapstory, self.folder, self.cache = heapstory, folder, {}
        self.marks = {}
        setting = [a for a in arguments if re.match(r'[A-Z_]+=', a)]
        command = [program] + [a for a in arguments if a not in setting]
        env = dict(os.environ, **dict(s.split('=', 1) for s in setting))
        log = open(folder + '/run.err', 'w+')
        process = subprocess.Popen(self.tracing() + command, env=env, stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, stderr=log, bufsize=0)
        for text in process.stdout:
            if text.startswith(b'MARK '):
                mark = int(text.split()[1])
                self.marks[mark] = '%s/mark%d.hs' % (folder, mark)
                self.call('snap', folder + '/out/store.live', '-o', self.marks[mark])
                self.call('check', self.marks[mark])
                try:
                    process.stdin.write(b'\n')
                except BrokenPipeError:
                    pass
        self.status = process.wait(60)
        log.seek(0)
        self.said = log.read()

    def tracing(self):
        """What stands before the program's command: run, or an emulator of another machine."""
        emulator = os.environ.get('EMULATOR')
        if not emulator:
            return [self.heapstory, 'run', '-o', self.folder + '/out', '--']
        os.mkdir(self.folder + '/out')
        settings = {'LD_PRELOAD': os.environ['EMULATED_LIBRARY'], 'HEAPSTORY_TRACE_PLACE': self.folder,
                    'HEAPSTORY_TRACE_DIR': self.folder + '/out'}
        return emulator.split() + [word for pair in settings.items() for word in ('-E', '='.join(pair))]

    def call(self, *arguments):
        done = subprocess.run([self.heapstory, *arguments], stdin=subprocess.DEVNULL, capture_output=True, timeout=120)
        if done.returncode:
            wrong('heapstory ' + ' '.join(arguments), 'status %d: %s' % (done.returncode, done.stderr.decode()))
        return done.stdout

    def ask(self, *arguments):
        if arguments not in self.cache:
            self.cache[arguments] = json.loads(self.call(*arguments, '--json') or b'{"rows":[],"totals":{}}')
        return self.cache[arguments]

    def heap(self, mark, kind='malloc'):
        return self.ask('heap', self.marks[mark], '--by', 'stack', '-n', 'all', '--kind', kind)

    def trend(self):
        return self.ask('trend', *(self.marks[mark] for mark in sorted(self.marks)), '--by', 'function', '-n', 'all')

    def diff(self, a, b, by='stack', kind='malloc'):
        return self.ask('diff', self.marks[a], self.marks[b], '--by', by, '-n', 'all', '--kind', kind)


def total(rows, line, part):
    rows = [row for row in rows if is_at(row, line)]
    take = (lambda row, what: row[what][part]) if part else (lambda row, what: row[what])
    return {'blocks': sum(take(r, 'count') for r in rows), 'bytes': sum(take(r, 'bytes') for r in rows)}


def check_rate(run, line):
    """As diff says by itself, and by its sums."""
    n = int(line.want['count'])
    diff = run.ask('diff', run.marks[line.marks[0]], run.marks[line.marks[1]], '--by', 'stack', '-n', 'all',
                   '--per', str(n), '--unit', 'request')
    rows = [row for row in diff['rows'] if is_at(row, line)]
    for key, part, slack in ('blocks', 'count', 0.0005), ('bytes', 'bytes', 0.05):
        want, told = float(line.want[key]), sum(row['per_unit'][part] for row in rows)
        exact = sum(row[part]['delta'] for row in rows) / n
        if abs(told - exact) > 1e-9 or abs(exact - want) > slack * 1.001:
            return '%s=%s, exactly %s' % (key, told, exact)


def check_events(run, line):
    totals = run.diff(*line.marks)['totals']
    return differs(line.want, {what: totals[what]['count'] for what in ('born', 'freed', 'resized')})


def grown(run, line):
    """The blocks with a lineage that got their present size at the line's place."""
    rows = run.ask('largest', run.marks[line.marks[0]], '-n', 'all')['rows']
    return [row for row in rows if is_at(row, line) and row['lineage'] and row['lineage']['nr_steps']
            and line.want.get('size', row['size']) in (row['size'], str(row['size']))]


def check_growers(run, line):
    rows = grown(run, line) if 'at' in line.want else run.ask('largest', run.marks[line.marks[0]], '-n', '1')['rows']
    got = {simple(g): g['count'] for g in rows[0]['lineage']['growers']}
    return '' if got == {k: int(v) for k, v in line.want.items() if k != 'at'} else str(got)


def check_lineage(run, line):
    rows = grown(run, line)
    if len(rows) != int(line.want.get('blocks', 1)):
        return '%d such blocks' % len(rows)
    return '; '.join(filter(None, (lineage_differs(row, line) or when_differs(run, row, line)
                                   or history_differs(run, row, line) for row in rows)))


def when_differs(run, row, line):
    """The moments of the steps: in order, and between the marks that the line names."""
    steps = row['lineage']['steps']
    times = [0] + [s['s'] for s in [row['lineage']['born']] + steps] + [run.heap(line.marks[0])['target']['taken_s']]
    if times != sorted(times):
        return 'times %s' % times
    for key, step in ('first', steps[0]), ('latest', steps[-1]):
        if key in line.want:
            marks = [int(n) for n in line.want[key].split('..')]
            low, high = (run.heap(n)['target']['taken_s'] if n else 0 for n in marks)
            if not low - 0.01 <= step['s'] <= high + 0.01:  # the clock of events is coarse
                return '%s at %s s, the marks at %s and %s' % (key, step['s'], low, high)
    return ''


def history_differs(run, row, line):
    """history of the block's address, and of one inside it, tells the same."""
    for offset in 0, row['size'] - 1:
        rows = run.ask('history', run.marks[line.marks[0]], hex(int(row['address'], 16) + offset))['rows']
        if [(r['serial'], r['size'], r['lineage'], r['stack'], r['contains_offset']) for r in rows] != \
                [(row['serial'], row['size'], row['lineage'], row['stack'], offset)]:
            return 'history of %s + %d: %s' % (row['address'], offset, rows)
    return ''


def check_trend(run, line):
    row, = [r for r in run.trend()['rows'] if simple({'function': r['key']}) == line.want['at']]
    got = {'shape': row['shape'], 'sure': row['confidence'], 'grows': row['grows']}
    if 'first' in line.want and row['first_growth_s'] is not None:
        got['first'] = sum(at < row['first_growth_s'] for at in row['at_s']) + 1
    if 'each' in line.want:
        gains = {int(b - a) for a, b in zip(row['bytes'], row['bytes'][1:])}
        got['each'] = gains.pop() if len(gains) == 1 else gains
    if 'factor' in line.want:
        got['factor'] = round(row['next_step']['factor'], 1)
        line.want['factor'] = str(float(line.want['factor']))
    return differs(line.want, got)


def spread(times):
    """Over how much of the life they are spread, as analysis/spread.h has it."""
    slices = collections.Counter(min(int(20 * t / max(times)), 19) for t in times).values()
    return math.exp(-sum(n / len(times) * math.log(n / len(times)) for n in slices)) / 20


def check_suspects(run, line):
    heap = run.ask('heap', run.marks[line.marks[0]], '-n', 'all')
    got = {outward(row['stack'])[0] for row in heap['suspects']}
    some, none = (set(line.want.get(k, '').split(',')) - {''} for k in ('some', 'none'))
    if spread([run.heap(mark)['target']['taken_s'] for mark in run.marks]) < 0.6:
        some = set()  # a busy machine made some periods much longer than others
    return '' if some <= got and not none & got else str(sorted(got))


def check_only(run, line, lines, kind='malloc'):
    named = set()
    if line.keyword != 'flat':
        for other in lines:
            named.update([other.want.get('at'), other.want.get('birth')])
    changes = {}
    for row in run.diff(*line.marks, kind=kind)['rows']:
        names = outward(row['stack'])
        if 'at' in line.want and not is_at(row, line) or names[0] in named:
            continue
        if line.want.get('except') and any(line.want['except'] in simple(f) or 'dl_' in simple(f)
                                           for f in row['stack'] or []):
            continue
        one = changes.setdefault(names[0], [0, 0])
        one[0] += row['count']['delta']
        one[1] += row['bytes']['delta']
    return ', '.join('%s blocks=%d bytes=%d' % (k, *v) for k, v in changes.items() if any(v))


def check_largest(run, line):
    return lineage_differs(run.ask('largest', run.marks[line.marks[0]], '-n', '1')['rows'][0], line)


def lineage_differs(row, line):
    lineage, names = row['lineage'], outward(row['stack'])
    got = {'size': row['size'], 'born': row['size'], 'grows': 0, 'at': names[0], 'birth': names[0]}
    if lineage:
        got.update(born=lineage['born']['size'], grows=lineage['nr_steps'], inferred=lineage['inferred'],
                   birth=outward(lineage['born']['stack'])[0])
        if 'ratio' in line.want and abs(lineage['factor'] - float(line.want['ratio'])) > 0.02:
            got['factor'] = lineage['factor']
            line.want['factor'] = line.want['ratio']
        if 'step' in line.want:
            got['step'] = lineage['increment']
        if lineage['nr_steps'] and lineage['steps'][-1]['size'] != row['size']:
            return 'the steps end with %d' % lineage['steps'][-1]['size']
    if 'via' in line.want and line.want['via'] not in names[1:]:
        return 'via=' + '<'.join(names[1:])
    return differs(line.want, got)


def check_module(run, line):
    rows = [r for r in run.diff(*line.marks, 'module')['rows'] if os.path.basename(r['key'] or '') == line.want['name']]
    return differs(line.want, {'blocks': sum(r['count']['delta'] for r in rows),
                               'bytes': sum(r['bytes']['delta'] for r in rows)})


def check_exit(run, line):
    signal = int(line.want.get('signal', 0))
    good = [-signal, 128 + signal] if signal else [int(line.want['code'])]
    return '' if run.status in good else 'status %d; %s' % (run.status, run.said)


OTHERS = {'rate': check_rate, 'events': check_events, 'growers': check_growers, 'module': check_module,
          'lineage': check_lineage, 'trend': check_trend, 'suspects': check_suspects}


def check(run, line, lines):
    if line.keyword == 'live':
        return differs(line.want, total(run.heap(line.marks[0])['rows'], line, None))
    if line.keyword == 'grow':
        return differs(line.want, total(run.diff(*line.marks)['rows'], line, 'delta'))
    if line.keyword == 'mapgrow':
        return differs(line.want, total(run.diff(*line.marks, kind='mapping')['rows'], line, 'delta'))
    if line.keyword == 'maponly':
        return check_only(run, line, lines, 'mapping')
    if line.keyword in ('flat', 'only'):
        return check_only(run, line, lines)
    if line.keyword == 'largest':
        return check_largest(run, line)
    if line.keyword in OTHERS:
        return OTHERS[line.keyword](run, line)
    if line.keyword == 'exit':
        return check_exit(run, line)
    return 'a TRUTH line that truth.py does not know'


def check_sums(run, a, b, kind):
    """What has to hold for every diff, to the byte."""
    diff, back = run.diff(a, b, kind=kind), run.diff(b, a, kind=kind)
    name = 'diff %d %d --kind %s' % (a, b, kind)
    for p, q in PARTS:
        if sum(row[p][q] for row in diff['rows']) != diff['totals'][p][q]:
            wrong(name, 'rows do not add up to totals.%s.%s' % (p, q))
    for row in diff['rows'] + [diff['totals']]:
        for p in 'count', 'bytes':
            if row[p]['after'] - row[p]['before'] != row[p]['delta']:
                wrong(name, 'after - before is not delta in ' + str(row.get('key', 'totals')))
        if row['born']['bytes'] - row['freed']['bytes'] + row['resized']['bytes'] != row['bytes']['delta']:
            wrong(name, 'born - freed + resized is not delta in ' + str(row.get('key', 'totals')))
    totals = diff['totals']
    if totals['born']['count'] - totals['freed']['count'] != totals['count']['delta']:
        wrong(name, 'count: born - freed is not delta')
    for p in 'count', 'bytes':
        if back['totals'][p]['delta'] != -totals[p]['delta']:
            wrong(name, 'the other way round is not the negative')
        for side, mark in ('before', a), ('after', b):
            heap = run.heap(mark, kind)
            if not totals[p][side] == heap['totals'][p] == sum(row[p] for row in heap['rows']):
                wrong(name, '%s.%s is not what heap says at mark %d' % (p, side, mark))
    same = run.diff(a, a, kind=kind)
    for row in same['rows'] + [same['totals']]:
        if any(row[p][q] for p, q in PARTS if p in ('born', 'freed', 'resized') or q == 'delta'):
            wrong('diff %d %d' % (a, a), 'is not empty: ' + str(row.get('key', 'totals')))


def main():
    arguments = sys.argv[1:]
    verbose = '-v' in arguments
    arguments = [a for a in arguments if a != '-v']
    heapstory, program, rest = arguments[0], arguments[1], arguments[2:]
    source = re.sub(r'_(O2|frames|generic|nopie|static|stripped|musl)$', '', program)
    programs = os.environ.get('PROGRAMS', 'build/programs')
    folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'programs')
    source = next(p for p in (os.path.join(folder, source + e) for e in ('.c', '.cpp', '.rs')) if os.path.exists(p))
    with tempfile.TemporaryDirectory() as out:
        run = Run(heapstory, os.path.join(programs, program), rest, out)
        lines = truth_lines(source, ' '.join(rest))
        if not lines:
            wrong(program, 'no TRUTH line for this run')
        for line in lines:
            try:
                got = check(run, line, lines)
            except (KeyError, IndexError, TypeError, ValueError) as e:
                got = 'odd answer: %s: %s' % (type(e).__name__, e)
            if got:
                wrong('expected ' + line.text, 'got ' + got)
            elif verbose:
                print('ok', line.text)
        try:
            for a, b in sorted({tuple(line.marks) for line in lines if len(line.marks) == 2}):
                for kind in 'malloc', 'mapping', 'all':
                    check_sums(run, a, b, kind)
            if program == 'ends':
                dead = Line('live', 'at=doomed_keep blocks=1000 bytes=32000')
                got = differs(dead.want, total(run.ask('heap', out + '/out', '--by', 'stack', '-n', 'all')['rows'], dead, None))
                if got:
                    wrong('store of the dead process: ' + dead.text, 'got ' + got)
        except (KeyError, IndexError, TypeError, ValueError) as e:
            wrong('odd answer', '%s: %s' % (type(e).__name__, e))
    for problem in problems:
        print(problem)
    return bool(problems)


sys.exit(main())

# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Names of random addresses against the symbol table as readelf prints it, addr2line and
# llvm-symbolizer, for stripped and unstripped C, C++ and Rust. readelf is the judge: a name has to
# be one of those that cover the address by the symbol table, and none may be missing. The other
# two may choose another alias or inlined scope, and name what lies behind the end of a function;
# everything else they say has to agree.
#
#	SYMBOLS_FILES="/path/a /path/b" tests/run cli/symbols-differential

programs=$TESTS/../build/programs
libc=$(gcc -print-file-name=libc.so.6)
libstdcxx=$(g++ -print-file-name=libstdc++.so.6)

cat >compare.py <<'END'
import random, re, subprocess, sys

driver, path, count, summary = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]
random.seed(1)

def out(*command, stdin=None):
    return subprocess.run(command, input=stdin, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          text=True, errors='replace').stdout

# DWARF names the function, a symbol table the compiler's copy of it.
strip = lambda n: re.sub(r'(\.(cold|isra|part|constprop|lto_priv|llvm)(\.\d+)?)+$', '', n)

def symbols(file, table):
    """[(start, end, type, name)] as readelf has it; labels end where they start."""
    rows, inside = [], False
    for line in out('readelf', '-sW', file).splitlines():
        if line.startswith('Symbol table'): inside = f"'{table}'" in line
        word = line.split()
        if inside and len(word) >= 8 and word[3] in ('FUNC', 'IFUNC', 'NOTYPE') \
                and word[6] not in ('UND', 'ABS', 'COM'):
            start, size = int(word[1], 16), int(word[2], 0)
            rows.append((start, start + size, word[3], strip(word[7].split('@')[0] or word[7])))
    return rows

def build_id(file):
    m = re.search(r'Build ID: ([0-9a-f]+)', out('readelf', '-n', file))
    return m and m[1]

sections = []
for line in out('readelf', '-SW', path).splitlines():
    m = re.match(r'\s*\[\s*\d+\] (\S+)\s+\S+\s+([0-9a-f]+) [0-9a-f]+ ([0-9a-f]+) \S+\s+(\w+)', line)
    if m and 'X' in m[4] and 'A' in m[4]:
        sections.append((int(m[2], 16), int(m[2], 16) + int(m[3], 16), m[1]))

ident = build_id(path)
full, oracle = symbols(path, '.symtab'), path
if not full and ident:
    debug = f'/usr/lib/debug/.build-id/{ident[:2]}/{ident[2:]}.debug'
    full = symbols(debug, '.symtab')
    if full: oracle = debug
rows = full + symbols(path, '.dynsym')
rows = [r for r in rows if any(s <= r[0] < e for s, e, _ in sections)]
text = [s for s in sections if not s[2].startswith('.plt')]
weights = [e - s for s, e, _ in text]
addresses = [random.randrange(s, e) for s, e, _ in random.choices(text, weights, k=count // 2)]
sized = [r for r in rows if r[1] > r[0]]
for r in random.choices(sized, k=count // 2):
    addresses.append(random.choice([r[0], r[1] - 1, r[1], random.randrange(r[0], r[1])]))

# all symbols that cover each address, by one walk over both in order
order, active, at, cover = sorted(set(addresses)), [], 0, {}
sized.sort()
starts = sorted({r[0] for r in rows})
for a in order:
    while at < len(sized) and sized[at][0] <= a:
        active.append(sized[at]); at += 1
    active = [r for r in active if r[1] > a]
    cover[a] = list(active)

text_of = '\n'.join(f'{a:x}' for a in order) + '\n'
id_args = ['--build-id', ident] if ident else []
ours = out(driver, '--raw', *id_args, path, stdin=text_of).splitlines()
assert len(ours) == len(order), (len(ours), len(order))
bare = lambda name: strip(name.split('@')[0] if '@' in name[1:] else name)
wrong, missing, labels, named = [], [], 0, 0
starts_of = {}
for r in rows: starts_of.setdefault(r[3], set()).add(r[0])
for a, name in zip(order, ours):
    name = bare(name)
    names = {r[3] for r in cover[a]}
    if name != '??': named += 1
    if name == '??':
        if names: missing.append((hex(a), names))
    elif names:
        innermost = max(r[0] for r in cover[a])
        if name not in {r[3] for r in cover[a] if r[0] == innermost}: wrong.append((hex(a), name, names))
    else:
        label = [r for r in rows if r[3] == name and r[1] == r[0] and r[0] <= a
                 and not any(r[0] < s <= a for s in starts)]
        if label and full: labels += 1
        else: wrong.append((hex(a), name, 'nothing covers it'))

def other(tool, theirs):
    """Compares with a tool that answers one name an address; returns (same, why not same)."""
    same, alias, inlined, behind, differ = 0, 0, 0, 0, []
    if len(theirs) != len(order): differ.append(('answers', len(order), len(theirs)))
    for a, name, them in zip(order, ours, theirs):
        name, them = bare(name), bare(them)
        if name == them: same += 1
        elif them in {r[3] for r in cover[a]}: alias += 1
        elif name == '??' and not cover[a]: behind += 1      # a function that ended before
        elif name in {r[3] for r in cover[a]}: inlined += 1  # a scope from DWARF, or a label inside
        elif starts_of.get(name, set()) & starts_of.get(them, set()): alias += 1 # both labels
        else: differ.append((hex(a), name, them))
    print(f'{path}: {tool}: same {same}, alias {alias}, other scope {inlined}, '
          f'behind an end {behind}, differ {len(differ)} {differ[:5]}', file=log)
    return len(differ)

log = open(summary, 'a')
print(f'{path}: {len(order)} addresses, {named} named ({labels} by labels), wrong {len(wrong)}, '
      f'missing {len(missing)} {wrong[:5]} {missing[:5]}', file=log)
hexes = [f'{a:#x}' for a in order]
lines = out('addr2line', '-f', '-e', oracle, stdin='\n'.join(hexes)).splitlines()[::2]
bad = other('addr2line', lines)
blocks = out('llvm-symbolizer', '--functions=linkage', '--no-inlines', '--no-demangle',
             '--obj=' + oracle, stdin='\n'.join(hexes)).split('\n\n')
bad += other('llvm-symbolizer', [b.strip().split('\n')[0] for b in blocks if b.strip()])

# the same addresses with their names demangled, against c++filt's
pretty = out(driver, *id_args, path, stdin=text_of).splitlines()
plain = [re.sub(r'(\.(cold|isra|part|constprop|lto_priv|llvm|localalias)(\.\d+)?)+$', '', bare(n)) for n in ours]
want = out('c++filt', stdin='\n'.join(plain)).splitlines()
tidy = lambda n: re.sub(r'std::basic_string<(\w+), std::char_traits<\1>, std::allocator<\1> >',
                        lambda m: {'char': 'std::string', 'wchar_t': 'std::wstring'}.get(m[1], m[0]),
                        n.replace('std::__cxx11::', 'std::').replace('std::__1::', 'std::')).replace(
                        'string >', 'string>')
# c++filt spells out what libiberty, unless it is told to be verbose, abbreviates
long = lambda n: re.sub(r'std::(istream|ostream|iostream|string)\b(::~?)?(basic_)?\1?',
                        lambda m: m[0] if m[1] == 'string' else
                        f'std::basic_{m[1]}<char, std::char_traits<char> >' + (m[2] or '') +
                        ('basic_' + m[1] if m[2] and m[0].endswith(m[1]) else ''), n)
rust = lambda n: re.sub(r'\b(\w+): ([ui](8|16|32|64|128|size)|bool|char)\b', r'\1', re.sub(
    r'::h[0-9a-f]{16}$', '', re.sub(r'(?<=\w)\[[0-9a-f]{5,16}\]', '', n)))
unlike = [(g, w) for g, w in zip(pretty, want) if g != tidy(w) and g != rust(w)
          and long(g) != tidy(w)]
print(f'{path}: demangled {len(pretty)}, unlike c++filt {len(unlike)} {unlike[:3]}', file=log)
name = re.sub(r'\.so\..*', '.so', path.rsplit('/', 1)[1])
print(f'{name}: wrong {len(wrong)}, missing {len(missing)}, unexplained {bad}, '
      f'demangled otherwise {len(unlike)}')
END

for file in "$libc" "$libstdcxx" "$programs/sym_shapes" "$programs/seed_idleak" ${SYMBOLS_FILES-}; do
	[ -e "$file" ] || continue
	python3 compare.py "$programs/sym_driver" "$(realpath "$file")" 4000 "$WORK/summary"
done
[ -z "${SYMBOLS_SUMMARY-}" ] || cp "$WORK/summary" "$SYMBOLS_SUMMARY"

# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# However debug information is stored, the answers are the same: compressed in each way, in a file
# of its own, found by link or build id, with what is common taken out by dwz, split into .dwo files,
# those in a package, types in units of their own.
driver=$TESTS/../build/programs/sym_driver
sources="$TESTS/programs/inlined.cpp second.cpp"
link='-O2 -std=c++17 -Wl,--build-id=sha1'

id_of() { readelf -n "$1" 2>/dev/null | sed -n 's/.*Build ID: //p'; }

# addresses FILE: 2000 of each section of code
addresses() {
	readelf -SW "$1" | "$PYTHON" -c '
import random, re, sys
random.seed(3)
found = set()
for line in sys.stdin:
    m = re.match(r"\s*\[\s*\d+\] (\.text\S*)\s+\S+\s+([0-9a-f]+) [0-9a-f]+ ([0-9a-f]+)", line)
    if m: found |= {int(m[2], 16) + random.randrange(int(m[3], 16)) for _ in range(2000)}
print("\n".join(f"{a:x}" for a in sorted(found)))'
}

ask() { # FILE [OPTION...]
	XDG_CACHE_HOME=$(mktemp -d -p "$WORK") "$driver" "${@:2}" --frames --build-id "$(id_of "$1")" "$WORK/$1" <addresses 2>problem
}

# same FILE [OPTION...]: answers are those of `plain`
same() {
	ask "$@" >"$1.out"
	[ -s problem ] && fail "$kind: $1: $(cat problem)"
	cmp -s plain.out "$1.out" || { fail "$kind: $1 is not as plain"; diff plain.out "$1.out" | head -6; }
}

# without FILE TEXT: why names are missing
without() {
	XDG_CACHE_HOME=$(mktemp -d -p "$WORK") "$driver" --build-id "$(id_of "$1")" "$WORK/$1" <addresses 2>&1 >/dev/null |
		grep -q "some names in '.*$1' are missing, .*$2" || fail "$kind: $1: nothing said of '$2'"
}

# whole FILE: a line and an inlined frame somewhere, so that equal is not equally empty
whole() {
	if [ "$(grep -c 'inlined.cpp:[1-9]' "$1")" -le 50 ] || [ "$(grep -c 'stl_vector.h:[1-9]' "$1")" -le 20 ]; then
		fail "$kind: $1 has too few lines"
	fi
}

compressed() {
	local how
	for how in zlib zlib-gnu zstd; do
		objcopy --compress-debug-sections=$how plain "z$how" 2>/dev/null || continue
		same "z$how"
	done
}

separate() {
	local id
	objcopy --only-keep-debug plain plain.debug
	objcopy --strip-all --add-gnu-debuglink=plain.debug plain linked
	same linked
	strip -o stripped plain
	id=$(id_of plain)
	mkdir -p "ids/.build-id/${id:0:2}"
	mv plain.debug "ids/.build-id/${id:0:2}/${id:2}.debug"
	same stripped --debug-dir "$WORK/ids"
}

common() {
	cp plain dwz1
	cp plain dwz2
	dwz -m common -M "$WORK/common" dwz1 dwz2 || { fail "$kind: dwz"; return; }
	same dwz1
	mv common away
	without dwz1 "there is no"
	cp dwz2 common
	without dwz1 "common' has the build id"
	mv away common
	# elsewhere: under .dwz of a folder of debug files
	mkdir -p ids/.dwz
	mv common ids/.dwz/common
	same dwz2 --debug-dir "$WORK/ids"
}

# Units of .dwo files are there, and the program's own sections claim to be larger than they are.
damaged() {
	"$PYTHON" - <<-'END'
	import struct
	with open('split', 'rb') as f: data = bytearray(f.read())
	shoff, = struct.unpack_from('<Q', data, 40)
	size, count, names = struct.unpack_from('<HHH', data, 58)
	at = struct.unpack_from('<Q', data, shoff + size * names + 24)[0]
	for i in range(count):
	    header = shoff + size * i
	    name = data[at + struct.unpack_from('<I', data, header)[0]:].split(b'\0')[0]
	    if name in (b'.debug_info', b'.debug_addr'):
	        struct.pack_into('<Q', data, header + 32, struct.unpack_from('<Q', data, header + 32)[0] + 0xf800)
	with open('damaged', 'wb') as f: f.write(data)
	END
	(ulimit -v 1000000 && XDG_CACHE_HOME=$WORK/none timeout 60 "$driver" --frames "$WORK/damaged" <addresses >damaged.out 2>&1) ||
		fail "$kind: a damaged program with .dwo files: $?"
}

cat >second.cpp <<'END'
namespace second {
struct scale { int k; __attribute__((always_inline)) int of(int v) { return v * k; } };
int __attribute__((noinline)) sum(int n, int k)
{
	scale s{k};
	int all = 0;
	for (int i = 0; i < n; i++)
		all += s.of(i) ^ all;
	return all;
}
}
/* in a section of its own: this unit has ranges, and behind those of the first one */
__attribute__((noinline, section(".text.apart"))) int apart(int n)
{
	second::scale s{n};
	return s.of(n) + s.of(n + 1);
}
int second_main(int n) { return second::sum(n, 3) + apart(n); }
END

types() { # types in units of their own change no name and no line
	# shellcheck disable=SC2086
	$kind $link -fdebug-types-section -o types $sources || fail "$kind -fdebug-types-section"
	readelf -wi types 2>/dev/null | grep -q 'Signature:' || fail "$kind: no type units"
	same types
	objcopy --compress-debug-sections=zlib types ztypes
	same ztypes
	rm -f ./*.dwo
	# shellcheck disable=SC2086
	$kind $link -fdebug-types-section -gsplit-dwarf -o types $sources || fail "$kind -gsplit-dwarf"
	same types
	rm -f ./*.dwo
}

for kind in 'g++ -gdwarf-5' 'g++ -gdwarf-4' 'g++ -gdwarf-5 -gdwarf64' 'clang++ -gdwarf-5' 'clang++ -gdwarf-4'; do
	rm -rf ids ./*.dwo
	# shellcheck disable=SC2086 # options
	$kind $link -o plain $sources || fail "$kind"
	# shellcheck disable=SC2094 # a function and a file
	addresses plain >addresses
	ask plain >plain.out
	whole plain.out
	compressed
	separate
	[ "$kind" = 'g++ -gdwarf-5 -gdwarf64' ] || types
	[ "$kind" = 'g++ -gdwarf-5 -gdwarf64' ] && continue # neither dwz nor a split form of that
	case $kind in
	'clang++ -gdwarf-5') ;; # dwz does not know .debug_addr
	*) if command -v dwz >/dev/null; then common; fi ;;
	esac
	# shellcheck disable=SC2086
	$kind $link -gsplit-dwarf -o split $sources || fail "$kind -gsplit-dwarf"
	same split
	grep -q 'second.cpp:[1-9]' split.out || fail "$kind: no lines of the second unit"
	# llvm-dwp 14 does not come to an end with some of what gcc writes
	if [ "$kind" != 'g++ -gdwarf-5' ] && command -v llvm-dwp >/dev/null; then
		timeout 60 llvm-dwp -e split -o split.dwp || fail "$kind: llvm-dwp"
		mkdir kept
		mv ./*.dwo kept
		same split
		rm -r split.dwp kept
	fi
	damaged
	rm -f ./*.dwo # lines are in the program itself
	ask split >split.out
	grep -q 'inlined frames in .*split.* are missing: no file .*dwo' problem || fail "$kind: nothing said of .dwo files"
	cut -d: -f2 split.out | sort -u | wc -l >lines
	[ "$(cat lines)" -gt 5 ] || fail "$kind: no lines without .dwo"
done

# the local symbols of a stripped library, xz inside it
gcc -O1 -shared -fPIC -o small.so -x c - <<'END'
static __attribute__((noinline)) int hidden_one(int n) { return n * 3; }
int shown(int n) { return hidden_one(n) + 1; }
END
nm small.so | sed -n 's/ t hidden_one//p' >addresses
objcopy --only-keep-debug --strip-debug small.so mini
"$PYTHON" -c 'import lzma; open("mini.xz", "wb").write(lzma.compress(open("mini", "rb").read()))'
strip small.so
ask small.so >stripped.out
objcopy --add-section .gnu_debugdata=mini.xz small.so
ask small.so >mini.out
grep -c hidden_one stripped.out mini.out
finish

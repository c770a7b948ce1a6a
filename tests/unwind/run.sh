#!/bin/bash
# SPDX-License-Identifier: MIT
# run.sh - holds the unwinder against libunwind and gdb on real programs; prints TAP. The tests
# cli/unwind-* run it.
#
#	tests/unwind/run.sh [NAME...]
#
# Builds compare.so, which takes the stack of each allocation with our unwinder (with the memo and
# without) and of one in so many with libunwind, and runs programs under it. Fails where more than
# 1 stack in 1000 differs, or the memo ever differs from a walk without it. The stacks that differ
# are printed. NAME is one of hard stacks python node cc1plus rust gdb. CC may be a cross compiler;
# then EMULATOR runs what it made, and only hard and stacks can be asked for.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 2
work=$(mktemp -d "${TMPDIR:-/tmp}/heapstory-unwind.XXXXXX") || exit 2
trap 'rm -rf "$work"' EXIT
read -ra cc <<<"${CC:-gcc}" # may have options
read -ra emulator <<<"${EMULATOR-}"
with=(env) # with VARIABLE=VALUE COMMAND...
[ ${#emulator[@]} = 0 ] || with=("${emulator[@]}" -E)
protection=-fcf-protection=full
[[ $("${cc[@]}" -dumpmachine) != aarch64* ]] || protection=-mbranch-protection=standard
number=0 failed=0
flags=(-std=gnu11 -O2 -g -D_GNU_SOURCE -fPIC -fvisibility=hidden -ftls-model=initial-exec
	-fno-builtin -fexceptions -Isrc -I. -pthread)
unwinder=(tests/unwind/standin.c src/tracer/{unwind,stackcache,step,stackbounds,rows,cfi,ehframe,fallback,sys}.c)
wanted=" $* "

wants() {
	[ "$wanted" = "  " ] || [[ $wanted == *" $1 "* ]]
}

result() { # OK NAME
	number=$((number + 1))
	if [ "$1" = 1 ]; then
		echo "ok $number - $2"
	else
		echo "not ok $number - $2"
		failed=1
	fi
}

skip() { # NAME REASON
	number=$((number + 1))
	echo "ok $number - $1 # SKIP $2"
}

# Runs a command and adds up the counts that compare.so wrote, one file a process.
compare() { # NAME EVERY COMMAND...
	local name=$1 every=$2 ok allowed=1 # of 1000
	[[ $name != stacks* ]] || allowed=0 # our own program
	shift 2
	rm -f "$work"/counts.*
	COMPARE_EVERY=$every COMPARE_OUT=$work/counts timeout 200 "${with[@]}" LD_PRELOAD="$work/compare.so" \
		"$@" >"$work/out" 2>"$work/err" </dev/null
	local status=$?
	cat "$work"/counts.* 2>/dev/null | awk -v allowed="$allowed" '
		NF == 2 && $2 ~ /^[0-9]+$/ { n[$1] += $2 }
		END {
			bad = n["compared"] - n["equal"]
			printf "%d events, %d compared, %d frames each, %d differ:", n["events"],
				n["compared"], n["frames"] / (n["compared"] ? n["compared"] : 1), bad
			printf " %d cut, %d short, %d long, %d other, %d lost; memo differs %d", n["cut"],
				n["short"], n["long"], n["differ"], n["lost"], n["memo_differs"]
			exit !(n["compared"] > 100 && bad * 1000 <= n["compared"] * allowed &&
				!n["memo_differs"])
		}' >"$work/sum"
	ok=$((!$?))
	[ $status = 0 ] || ok=0
	result $ok "$name: $(cat "$work/sum")"
	if [ $ok = 0 ]; then
		echo "# status $status"
		sed -n '/^$/,$p' "$work"/counts.* 2>/dev/null | head -n 60 | sed 's/^/# /'
	fi
}

build() { # OUTPUT ARGUMENT...
	"${cc[@]}" "${flags[@]}" -Wl,-z,now -o "$@" || exit 2
}

hard() {
	build "$work/hard" -rdynamic tests/unwind/hard.c "${unwinder[@]}"
	(cd "$work" && timeout 100 "${emulator[@]}" ./hard) >"$work/hard.out"
	local status=$? line
	while read -r line; do
		case $line in
		"ok "*) result 1 "${line#ok }" ;;
		"not ok "*) result 0 "${line#not ok }" ;;
		*) echo "$line" ;;
		esac
	done <"$work/hard.out"
	[ $status = 0 ] || result 0 "hard: status $status"
}

stacks() {
	local name
	for name in '-O2' '-O0' '-O2 -fno-omit-frame-pointer' "-O2 $protection"; do
		# shellcheck disable=SC2086 # several options
		"${cc[@]}" -std=gnu11 -g -D_GNU_SOURCE -fno-builtin -pthread $name \
			-o "$work/stacks" tests/unwind/stacks.c || exit 2
		compare "stacks $name" 1 "$work/stacks"
	done
}

# The programs: each sets `program`, a command, for compare.so and for gdb; or skips.
export PYTHONMALLOC=malloc RUST_BACKTRACE=1 SHELL=/bin/sh

python() {
	local python
	python=$(PATH=/usr/bin:/bin command -v python3) || { skip python 'no python3'; return 1; }
	program=("$python" -c '
import json, re, xml.dom.minidom
d = [{"k%d" % i: list(range(i % 9))} for i in range(900)]
print(len(json.dumps(json.loads(json.dumps(d)))), re.compile("(a|b)*c{1,3}").match("ababc"))
')
}

node() {
	type -P node >/dev/null || { skip node 'no node'; return 1; }
	# shellcheck disable=SC2016 # not for the shell
	program=("$(type -P node)" -e '
let m = {}; for (let i = 0; i < 20000; i++) m["k" + i] = Buffer.alloc(10 + i % 300);
function f(n) { return n ? f(n - 1) + 1 : Buffer.alloc(100000).length; }
for (let i = 0; i < 300; i++) f(i % 40);
console.log(JSON.stringify(m).length)')
}

cc1plus() {
	local cc1plus
	cc1plus=$(g++ -print-prog-name=cc1plus 2>/dev/null)
	[ -x "$cc1plus" ] || { skip cc1plus 'no g++'; return 1; }
	printf '#include <map>\n#include <string>\n#include <vector>\n#include <algorithm>\n%s\n' \
		'int f() { std::map<std::string, std::vector<int>> m; m["a"].push_back(1);' \
		'std::sort(m["a"].begin(), m["a"].end()); return (int)m.size(); }' >"$work/a.cc"
	g++ -E -o "$work/a.ii" "$work/a.cc" || { skip cc1plus 'no headers'; return 1; }
	program=("$cc1plus" -quiet -O2 -fpreprocessed "$work/a.ii" -o "$work/a.s")
}

rust() {
	type -P rustc >/dev/null || { skip rust 'no rustc'; return 1; }
	cat >"$work/a.rs" <<'END'
use std::collections::HashMap;
fn main() {
    let threads: Vec<_> = (0..4).map(|t| std::thread::spawn(move || {
        let mut map: HashMap<String, Vec<u8>> = HashMap::new();
        for i in 0..2000u32 {
            map.insert(format!("{}-{}", t, i), vec![0; (i % 100) as usize]);
        }
        let caught = std::panic::catch_unwind(|| { let v: Vec<i32> = Vec::new(); v[3] });
        map.len() + caught.is_err() as usize
    })).collect();
    for t in threads { println!("{}", t.join().unwrap()); }
}
END
	rustc -O -o "$work/rust" "$work/a.rs" || exit 2
	program=("$work/rust")
}

# gdb and our unwinder at the same events of a program, some STOPS of them.
gdb_compare() { # NAME STOPS COMMAND...
	local name=$1 stops=$2 events ok
	shift 2
	rm -f "$work/count" "$work/gdb.out"
	timeout 60 env GDB_COUNT="$work/count" LD_PRELOAD="$work/gdb.so" "$@" >/dev/null 2>&1 </dev/null
	events=$(cat "$work/count" 2>/dev/null)
	[ "${events:-0}" -gt "$stops" ] || { result 0 "gdb $name: ${events:-no} events"; return; }
	GDB_LIBRARY=$work/gdb.so GDB_OUT=$work/gdb.out GDB_EVERY=$((events / stops)) timeout 240 \
		gdb -batch -nx -x tests/unwind/gdb.py --args "$@" >"$work/gdb.log" 2>&1 </dev/null
	if grep -qiE 'ptrace.*(not permitted|denied)|could not trace' "$work/gdb.log"; then
		skip "gdb $name" "ptrace is refused here"
		return
	fi
	awk -v stops="$stops" '
		NF == 2 && $2 ~ /^[0-9]+$/ { n[$1] += $2 }
		END {
			bad = n["short"] + n["long"] + n["differ"] + n["lost"]
			printf "%d stacks, %d frames each, %d of them up to code without unwind data, %d differ:",
				n["stacks"], n["frames"] / (n["stacks"] ? n["stacks"] : 1), n["beyond"], bad
			printf " %d short, %d long, %d other, %d lost", n["short"], n["long"], n["differ"],
				n["lost"]
			exit !(n["stacks"] * 2 > stops && bad * 1000 <= n["stacks"])
		}' "$work/gdb.out" >"$work/sum" 2>/dev/null
	ok=$((!$?))
	result $ok "gdb $name: $(cat "$work/sum")"
	[ $ok = 1 ] || { sed -n '/^$/,$p' "$work/gdb.out"; tail -n 20 "$work/gdb.log"; } 2>&1 | sed 's/^/# /'
}

gdb_works() {
	type -P gdb >/dev/null || { skip gdb 'no gdb'; return 1; }
	gdb -batch -nx -ex 'python print(6 * 7)' 2>/dev/null | grep -q '^42' ||
		{ skip gdb 'this gdb has no Python'; return 1; }
	build "$work/gdb.so" -shared tests/unwind/gdb.c "${unwinder[@]}"
}

build "$work/compare.so" -shared tests/unwind/compare.c "${unwinder[@]}"
wants hard && hard
wants stacks && stacks
wants python && python && compare python 2 "${program[@]}"
wants node && node && compare node 8 "${program[@]}"
wants cc1plus && cc1plus && compare cc1plus 20 "${program[@]}"
wants rust && rust && compare rust 1 "${program[@]}"
if wants gdb && gdb_works; then
	python && gdb_compare python 1000 "${program[@]}"
	node && gdb_compare node 500 "${program[@]}"
	cc1plus && gdb_compare cc1plus 1000 "${program[@]}"
	rust && gdb_compare rust 1000 "${program[@]}"
fi
echo "1..$number"
exit $failed

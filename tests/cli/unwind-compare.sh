# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Our unwinder against libunwind's unw_step(), frame by frame, in processes made for it
# (tests/unwind/compare.c): below 1 stack in 1000 differs, and the memo never does.
need gcc
top=$TESTS/..
sources=("$top"/tests/unwind/{compare,standin}.c
	"$top"/src/tracer/{unwind,step,stackbounds,rows,cfi,ehframe,fallback,sys}.c)
gcc -O2 -g -fPIC -fno-builtin -ftls-model=initial-exec -std=gnu11 -D_GNU_SOURCE -I"$top/src" -I"$top" -w \
	-shared -o compare.so "${sources[@]}" -lunwind || fail "compare.so"
for flags in -O2 '-O0' '-O2 -fno-omit-frame-pointer'; do
	# shellcheck disable=SC2086 # words
	gcc $flags -g -w -fno-builtin -o "stacks${flags// /}" "$top/tests/unwind/stacks.c" -pthread || fail "stacks $flags"
done

# compare EVERY NAME COMMAND...
compare() {
	local every=$1 name=$2
	shift 2
	COMPARE_EVERY=$every COMPARE_OUT=$WORK/$name LD_PRELOAD=$WORK/compare.so "$@" >"$name.out" 2>&1 </dev/null ||
		fail "$name ended with $?: $(tail -n 3 "$name.out")"
	cat "$WORK/$name".[0-9]* | awk -v name="$name" '
		$1 ~ /^(compared|memo_differs|cut|short|long|differ|lost)$/ { n[$1] += $2 }
		END {
			wrong = n["cut"] + n["short"] + n["long"] + n["differ"] + n["lost"]
			good = n["compared"] > 100 && !n["memo_differs"] && wrong * 1000 < n["compared"]
			print name ": " (good ? "as libunwind" : "NOT as libunwind")
			printf "%s: %d stacks, %d differ (cut %d, short %d, long %d, other %d, lost %d), memo %d\n", name,
				n["compared"], wrong, n["cut"], n["short"], n["long"], n["differ"], n["lost"],
				n["memo_differs"] >"/dev/stderr"
			exit !good
		}' 2>>figures || { fail "$name"; cat figures; }
}

compare 5 python env PYTHONMALLOC=malloc "$PYTHON" -c 'print(sum(len(str(i)) for i in range(50000)))'
cat >one.cpp <<'END'
#include <map>
#include <string>
#include <vector>
int main()
{
	std::map<std::string, std::vector<int>> m;
	m["a"].push_back(1);
	return (int)m.size() - 1;
}
END
compare 50 cc1plus "$(g++ -print-prog-name=cc1plus)" -quiet -imultiarch "$(gcc -print-multiarch)" -D_GNU_SOURCE \
	-O1 one.cpp -o one.s
command -v node >/dev/null && compare 5 node node -e 'let a = []; for (let i = 0; i < 20000; i++) a.push({ i, s: "x" + i }); JSON.parse(JSON.stringify(a))'
compare 1 rust "$PROGRAMS/seed_idleak"
for program in stacks-*; do
	compare 1 "$program" "./$program"
done
finish

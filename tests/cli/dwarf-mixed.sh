# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# One program of units by g++, clang++ and rustc, DWARF 4 and 5, types in units of their own or not:
# frames, files and lines beside llvm-symbolizer's; and the same however the whole is stored.
need llvm-symbolizer
need clang++
need rustc
driver=$TESTS/../build/programs/sym_driver

cat >unit.cpp <<'END'
#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>
namespace UNIT {
namespace {
struct hidden { int k; int of(int v) const { return v * k + 1; } };
}
template <class T> class box {
public:
	explicit box(T v) : v_(std::move(v)) {}
	virtual ~box() = default;
	virtual long weigh(int n) const { return n * static_cast<long>(sizeof(v_)); }
	template <class F> long each(F f) const { long s = 0; for (int i = 0; i < 7; i++) s += f(i); return s; }
private:
	T v_;
};
template <class T> class heavy : public box<T> {
public:
	using box<T>::box;
	long weigh(int n) const override
	{
		struct local { long k; long more(int i) { return k + i % 5; } } l{n};
		return this->each([&](int i) { return l.more(i) ^ box<T>::weigh(i); });
	}
};
__attribute__((noinline)) long run(int n)
{
	std::vector<std::unique_ptr<box<std::string>>> all;
	std::map<std::string, hidden> names;
	for (int i = 0; i < n; i++) {
		if (i & 1)
			all.push_back(std::make_unique<heavy<std::string>>(std::to_string(i)));
		else
			all.push_back(std::make_unique<box<std::string>>("x"));
		names[std::to_string(i % 5)].k += i;
	}
	long sum = 0;
	for (const auto &b : all)
		sum += b->weigh(n);
	for (const auto &[name, h] : names)
		sum += h.of(n) + static_cast<long>(name.size());
	std::sort(all.begin(), all.end(), [](const auto &a, const auto &b) { return a->weigh(1) < b->weigh(1); });
	return sum;
}
}
END
cat >rusty.rs <<'END'
use std::collections::HashMap;
#[no_mangle]
pub extern "C" fn rusty(n: i32) -> i64 {
    let mut words: HashMap<String, Vec<i64>> = HashMap::new();
    for i in 0..n {
        words.entry(format!("w{}", i % 7)).or_default().push(i64::from(i));
    }
    words.values().map(|v| v.iter().sum::<i64>()).sum()
}
END
stored=(zlib none none zlib) # by the compiler; the linker inflates it
compilers=('g++ -gdwarf-4' 'g++ -gdwarf-5' 'clang++ -gdwarf-4' 'clang++ -gdwarf-5')
calls=
for i in "${!compilers[@]}"; do
	for types in '' -fdebug-types-section; do
		unit=unit$i${types:+_types}
		# shellcheck disable=SC2086 # options
		${compilers[i]} $types "-gz=${stored[i]}" -O2 -std=c++17 \
			-DUNIT="$unit" -c -o "$unit.o" unit.cpp || fail "$unit"
		calls+="namespace $unit { long run(int); } "
		sum+="+ $unit::run(argc)"
	done
done
MAKEFLAGS='' rustc --edition 2021 -O -g -C panic=abort --crate-type staticlib -o librusty.a rusty.rs ||
	fail "rustc"
echo "$calls extern \"C\" long rusty(int); int main(int argc, char **) { return (int)(rusty(argc) $sum); }" >main.cpp
g++ -g -O2 -Wl,--build-id=sha1 -o mixed main.cpp unit*.o librusty.a -pthread -ldl || fail "link"
readelf -wi mixed 2>/dev/null | sed -n 's/^ *Version: *//p' | sort | uniq -c | awk '$1 > 2 { print "version", $2 }'
"$PYTHON" "$TESTS/tools/inlines.py" "$driver" mixed 10000 details llvm || fail "mixed"
[ -z "${SYMBOLS_SUMMARY-}" ] || cp details "$SYMBOLS_SUMMARY"

# 20 of each function of the units in C++
nm -S mixed | "$PYTHON" -c "
import random, sys
random.seed(5)
for line in sys.stdin:
    fields = line.split()
    if len(fields) == 4 and fields[2] in 'tTwW' and 'unit' in fields[3]:
        for _ in range(20): print('%x' % (int(fields[0], 16) + random.randrange(int(fields[1], 16))))" >addresses
ask() { # FILE
	XDG_CACHE_HOME=$(mktemp -d -p "$WORK") "$driver" --frames \
		--build-id "$(readelf -n mixed | sed -n 's/.*Build ID: //p')" "$1" <addresses
}
ask mixed >plain.out
for unit in unit*.o; do # each one has frames of its own, with lines
	grep -A3 "^${unit%.o}::" plain.out | grep -q 'unit.cpp:[1-9]' || fail "${unit%.o}: no lines"
done
for how in zlib zlib-gnu zstd; do
	objcopy --compress-debug-sections=$how mixed "z$how" 2>/dev/null || continue
	ask "z$how" | cmp - plain.out || fail "$how"
done
finish

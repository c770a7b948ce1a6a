# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# A C++ compile: g++ with --follow-children, the compiler proper is traced as well.
need g++
cat >work.cc <<-'END'
	#include <algorithm>
	#include <iostream>
	#include <map>
	#include <string>
	#include <vector>
	int main()
	{
		std::map<std::string, std::vector<int>> m;
		for (int i = 0; i < 100; i++)
			m["k" + std::to_string(i % 10)].push_back(i);
		for (auto &[k, v] : m)
			std::sort(v.rbegin(), v.rend());
		std::cout << m.size() << "\n";
	}
END
g++ -std=c++17 -O1 -c work.cc -o plain.o
with_count heapstory run --follow-children -o out --no-exit-snapshot -- g++ -std=c++17 -O1 -c work.cc -o traced.o 2>traced.err ||
	fail "g++ ended with $?: $(tail -n 3 traced.err)"
cmp plain.o traced.o || fail "another object file"

# the compiler's store is one of those in out; cc1plus, as and g++ itself each equal their counts
find out -name '*.live' | sort >stores
seen=
while read -r store; do
	heapstory heap "$store" --json >heap.json || continue
	name=$(json heap.json 'j["target"]["name"]')
	seen="$seen $name"
	"$PYTHON" "$TOOLS/count.py" "$BUILD/heapstory" "$store" || fail "$name: store and counting preload differ"
done <stores
case $seen in
*cc1plus*) ;;
*) fail "no store of cc1plus, only of:$seen" ;;
esac
rm -f "$COUNT_FILE".*

# without --follow-children the launcher says so
heapstory run -o alone --no-exit-snapshot -- g++ -std=c++17 -O1 -c work.cc -o traced.o 2>alone.err
grep -q 'children were not traced; --follow-children traces them' alone.err || fail "no word of the children: $(cat alone.err)"
finish

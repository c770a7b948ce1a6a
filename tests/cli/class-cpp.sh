# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Classes of a C++ program's blocks are what it says they are; stripped, objects still have theirs.
take() { # PROGRAM NAME
	start "$2" heapstory run -o "$2.run" -- "$1"
	wait_mark "$2" 1 || finish
	heapstory snap "$2.run/store.live" -o "$2.hs" >/dev/null || fail "snap $2"
	heapstory heap "$2.run/store.live" --addresses all -n all --json >"$2.live.json" || fail "heap $2"
	finish_program "$2" || fail "$2 ended with $?"
	heapstory heap "$2.hs" --addresses all -n all --json >"$2.json" || fail "heap $2.hs"
}
take "$PROGRAMS/cpp_types" full
"$PYTHON" "$TOOLS/classes.py" full.out full.json >said || { fail "classes"; cat said; }
"$PYTHON" "$TOOLS/classes.py" full.out full.live.json >said || { fail "classes, live"; cat said; }

# what one finds in services, and in corners; optimised, and more so with LTO, functions of two
# containers may share their machine code, which then has the name of one of them
g++ -O2 -flto -g -std=c++17 -I"$TESTS/programs" -o services_lto "$TESTS/programs/cpp_services.cpp" -pthread \
	2>warnings || { fail "g++ -flto"; cat warnings; }
g++ -O2 -g -std=c++20 -I"$TESTS/programs" -o corners_O2 "$TESTS/programs/cpp_corners.cpp" -pthread || fail "g++"
for program in "$PROGRAMS/cpp_services" "$PROGRAMS/cpp_corners" ./corners_O2 ./services_lto; do
	name=${program##*/}
	take "$program" "$name"
	"$PYTHON" "$TOOLS/classes.py" "$name.out" "$name.json" >said || { fail "classes: $name"; cat said; }
done

# read elsewhere
heapstory symbolize full.hs -o baked.hs >/dev/null || fail "symbolize"
env -i PATH="$PATH" XDG_CACHE_HOME="$WORK/none" heapstory heap baked.hs --addresses all -n all --json >baked.json
"$PYTHON" "$TOOLS/classes.py" full.out baked.json >said || { fail "classes, baked"; cat said; }

# at a regular end the tracer looks at the objects; of a program that is killed nobody can, and no
# class is wrong then
heapstory heap full.run/exit.hs --addresses all -n all --json >exit.json
"$PYTHON" "$TOOLS/classes.py" full.out exit.json >said || { fail "classes at the end"; cat said; }
# a shell in between, which says in killed.err that it was killed
run_in_shell() { heapstory run -o killed -- "$PROGRAMS/cpp_types" || true; }
start killed run_in_shell
wait_mark killed 1 || finish
kill -KILL "$(pgrep -P "$(traced_pid killed)" | head -n 1)"
finish_program killed
heapstory heap killed/exit.hs --addresses all -n all --json >killed.json
check_json killed.json 'any("classes from stacks only" in n for n in j["coverage"]["notes"])'
"$PYTHON" "$TOOLS/classes.py" killed.out killed.json | tail -n 1 | grep -q 'wrong: 0.0 %, 0.0 %' || fail "classes after a kill"

# stripped, not position independent: the vtables say it by their type information
g++ -O2 -std=c++17 -I"$TESTS/programs" -o types "$TESTS/programs/cpp_types.cpp" || fail "g++"
g++ -O2 -std=c++17 -no-pie -s -I"$TESTS/programs" -o fixed "$TESTS/programs/cpp_types.cpp" || fail "g++ -no-pie"
strip types
for name in types fixed; do
	take ./$name $name
	"$PYTHON" - $name.json <<-'END'
		import collections, json, sys
		told = collections.Counter(r["class"] for r in json.load(open(sys.argv[1]))["rows"])
		# without names of its frames a Circle in a buffer or behind a shared_ptr is all that is known
		for name, low, high in (("Circle", 200, 201), ("Square", 200, 200), ("Diamond", 200, 200),
		                        ("app::Holder<Point>", 200, 200), ("(anonymous namespace)::Hidden", 200, 200),
		                        ("std::shared_ptr<Circle>", 200, 200)):
		    if not low <= told[name] <= high: print(sys.argv[1], name, told[name])
	END
	"$PYTHON" "$TOOLS/classes.py" $name.out $name.json | tail -n 1 | grep -q 'wrong: 0.0 %' || fail "wrong classes: $name"
done
finish

# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# check finds any damage of a snapshot.
heapstory run -o out -- "$PROGRAMS/wrapper" </dev/null >/dev/null || fail "run"
expect_status 0 heapstory check out/exit.hs >/dev/null
expect_status 0 heapstory check out/store.live >/dev/null
"$PYTHON" - "$BUILD/heapstory" <<-'END'
	import random, subprocess, sys
	data = open("out/exit.hs", "rb").read()
	random.seed(1)
	places = [random.randrange(len(data)) for _ in range(150)] + list(range(0, 64, 8)) + [len(data) - 1]
	cuts = [random.randrange(len(data)) for _ in range(20)]
	def check(bad, what):
	    open("bad.hs", "wb").write(bad)
	    done = subprocess.run([sys.argv[1], "check", "bad.hs"], capture_output=True)
	    if done.returncode != 2 or not done.stderr + done.stdout:
	        print("status %d: %s" % (done.returncode, what))
	for at in places:
	    check(data[:at] + bytes([data[at] ^ 1 << random.randrange(8)]) + data[at + 1:], "bit at %d" % at)
	for cut in cuts:
	    check(data[:cut], "cut at %d" % cut)
	check(data + b"x", "one byte more")
	check(data[:len(data) // 2] + data[len(data) // 2 + 8:], "a hole")
END
finish

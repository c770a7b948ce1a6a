# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# node: same output, same blocks as the counting preload.
need node
cat >work.js <<-'END'
	const zlib = require("zlib"), crypto = require("crypto");
	const keep = [];
	for (let i = 0; i < 300; i++) {
		keep.push(Buffer.alloc(20000 + i, i & 255));
		keep.push(zlib.deflateSync(keep[keep.length - 1]));
	}
	const hash = crypto.createHash("sha256");
	for (const b of keep) hash.update(b);
	console.log(keep.length, hash.digest("hex"));
	process.exitCode = 5;
END
node work.js >plain.out 2>plain.err
plain=$?
with_count heapstory run -o out --no-exit-snapshot -- node work.js >traced.out 2>traced.err
status=$?
[ $status = $plain ] || fail "status $status, untraced $plain: $(tail -n 3 traced.err)"
cmp plain.out traced.out || fail "other output"
# its workers may live to the end, each with an event half done
counted out --threads 12
finish

// SPDX-License-Identifier: MIT
// churn.js - code that is made at run time and goes again, while what it allocated stays.
//
// Each round makes functions from text, calls them until they are optimised, and drops them; a
// buffer that each of them made is kept. So in the perf map later functions lie where earlier ones
// were. At a mark nothing runs.
'use strict';
const fs = require('fs');
const kept = [];

function mark(n) {
	fs.writeSync(1, `MARK ${n}\n`);
	fs.readSync(0, Buffer.alloc(1));
}

function round(number) {
	for (let k = 0; k < 20; k++) {
		const name = `made_${number}_${k}`;
		const made = new Function('keep', `
			function ${name}(i, keep) {
				let sum = ${k};
				for (let j = 0; j < 50; j++) sum += (i * j) % ${k + 3};
				if (i % 2000 === 1999) keep.push(Buffer.allocUnsafeSlow(10000 + ${number}));
				return sum;
			}
			let all = 0;
			for (let i = 0; i < 4000; i++) all += ${name}(i, keep);
			return all;`);
		made(kept);
	}
	if (global.gc) global.gc();
}

for (let number = 0; number < 3; number++) round(number);
mark(1);
for (let number = 3; number < 12; number++) round(number);
mark(2);

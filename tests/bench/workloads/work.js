// node: JSON, maps, strings and buffers that come and go, some of which stay.
'use strict';
const zlib = require('zlib');
const rounds = Number(process.argv[2] || 6);
let state = 12345, total = 0;
const kept = new Map();

function rnd(n) {
	state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff;
	return state % n;
}

for (let round = 0; round < rounds; round++) {
	const records = [];
	for (let i = 0; i < 4000; i++)
		records.push({ id: i, tags: ['t' + rnd(500), 't' + rnd(500)], data: 'x'.repeat(rnd(200)) });
	const text = JSON.stringify(records);
	total += JSON.parse(text).length + text.length;
	for (let i = 0; i < 20000; i++) {
		const buffer = Buffer.allocUnsafeSlow(64 + rnd(2000));
		buffer[0] = i;
		if (i % 8 === 0)
			kept.set(rnd(4000), buffer);
		total += buffer.length;
	}
	for (let i = 0; i < 20; i++)
		total += zlib.deflateSync(text.slice(0, 20000 + rnd(20000))).length;
}
console.log('RESULT node', total, kept.size);

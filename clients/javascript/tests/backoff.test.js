// SPDX-License-Identifier: Apache-2.0

import assert from "node:assert/strict";
import { test } from "node:test";
import { Backoff } from "../src/waiting.js";

function bounds(options) {
	const [least, most] = [0, 1].map((share) => new Backoff({ ...options, random: () => share }));
	return (count) => Array.from({ length: count }, () => [least.next(), most.next()]);
}

test("the default delays before connecting again are those of PROTOCOL.md", () => {
	assert.deepEqual(bounds()(8), [
		[0, 100], [200, 400], [400, 800], [800, 1600], [1600, 3200], [3200, 6400], [5000, 10_000], [5000, 10_000],
	]);
});

test("delays stay finite, and begin again after attempts was set to 0", () => {
	const backoff = new Backoff({ base: 10, maximum: 80 });
	backoff.attempts = 5000;
	const longest = backoff.next();
	assert.ok(longest >= 40 && longest <= 80, `${longest}`);
	backoff.attempts = 0;
	const first = backoff.next();
	assert.ok(first >= 0 && first <= 5, `${first}`);
});

// SPDX-License-Identifier: Apache-2.0

import { CancelledError, TimeoutError } from "./errors.js";

/** Calls back where it takes too long, or is not wanted any more. Returns what ends the waiting. */
export function patience({ signal, timeout }, giveUp) {
	const stop = (error) => {
		clearTimeout(timer);
		signal?.removeEventListener("abort", abort);
		if (error) giveUp(error);
	};
	const late = () => stop(new TimeoutError(`no answer within ${timeout} ms`));
	const timer = timeout && setTimeout(late, timeout);
	const abort = () => {
		const cause = signal.reason;
		stop(new CancelledError(-32800, "the request was cancelled", undefined, { cause }));
	};
	signal?.addEventListener("abort", abort);
	if (signal?.aborted) abort();
	return () => stop();
}

/** Waits longer each time, and a part of it by chance: not all frontends come back at once. */
export class Backoff {
	constructor({ base = 200, max = 10_000, random = Math.random } = {}) {
		Object.assign(this, { base, max, random, attempts: 0 });
	}

	next() {
		const whole = Math.min(this.max, this.base * 2 ** this.attempts++);
		return whole * (0.5 + 0.5 * this.random());
	}
}

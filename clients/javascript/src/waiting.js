// SPDX-License-Identifier: Apache-2.0

import { RequestCancelledError, TimedOutError } from "./errors.js";

/** Calls `giveUp` on timeout or abort. Returns a function that cancels both. */
export function patience({ signal, timeout }, giveUp) {
	const stop = (error) => {
		clearTimeout(timer);
		signal?.removeEventListener("abort", abort);
		if (error) giveUp(error);
	};
	const late = () => stop(new TimedOutError(`no response within ${timeout} ms`));
	const timer = timeout && setTimeout(late, timeout);
	const abort = () => {
		const cause = signal.reason;
		stop(new RequestCancelledError(-32800, "the request was cancelled", undefined, { cause }));
	};
	signal?.addEventListener("abort", abort);
	if (signal?.aborted) abort();
	return () => stop();
}

/** Exponential delays with jitter, so that clients do not reconnect at the same time. */
export class Backoff {
	constructor({ base = 200, maximum = 10_000, random = Math.random } = {}) {
		Object.assign(this, { base, maximum, random, attempts: 0 });
	}

	/**
	 * Returns the next delay. Delay n, counted from 0, is at most `base * 2 ** n` and at least half of that. Delay 0
	 * is between 0 and half of `base`.
	 */
	next() {
		const attempt = this.attempts++;
		const half = Math.min(this.maximum, this.base * 2 ** attempt) / 2;
		return half * this.random() + (attempt ? half : 0);
	}
}

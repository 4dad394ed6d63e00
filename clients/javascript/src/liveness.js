// SPDX-License-Identifier: Apache-2.0
//
// Detects dead connections: a machine sleeps, a cable is unplugged, a router drops its state.

/** Beats in one ping interval. */
export const beatsPerInterval = 4;

/** Decides on each beat whether to send `ping` to a silent server or to drop the connection. */
export class Liveness {
	#silence = 0;
	#pingedAt;

	/** Records that a message has arrived. */
	received() {
		this.#silence = 0;
		this.#pingedAt = undefined;
	}

	/** Advances by one beat. Returns "wait", "ping" or "dead"; `isAwaiting`: a response is pending. */
	beat(isAwaiting) {
		this.#silence++;
		if (this.#pingedAt !== undefined) return this.#silence - this.#pingedAt < 3 ? "wait" : "dead";
		if (this.#silence < (isAwaiting ? 2 : beatsPerInterval)) return "wait";
		this.#pingedAt = this.#silence;
		return "ping";
	}
}

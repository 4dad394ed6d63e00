// SPDX-License-Identifier: Apache-2.0
//
// A connection can die without an end: a machine sleeps, a cable is pulled, a router forgets it.

/** Beats in one heartbeat. */
export const beatsPerHeartbeat = 4;

/** Decides, beat by beat, when a silent server is asked with `ping` and when its connection is given up. */
export class Liveness {
	#silence = 0;
	#askedAt;

	/** A message has come. */
	heard() {
		this.#silence = 0;
		this.#askedAt = undefined;
	}

	/** A beat has passed. Returns "wait", "ask" or "gone"; `isAwaiting`: a response is missing. */
	beat(isAwaiting) {
		this.#silence++;
		if (this.#askedAt !== undefined) return this.#silence - this.#askedAt < 3 ? "wait" : "gone";
		if (this.#silence < (isAwaiting ? 2 : beatsPerHeartbeat)) return "wait";
		this.#askedAt = this.#silence;
		return "ask";
	}
}

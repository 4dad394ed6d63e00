// SPDX-License-Identifier: Apache-2.0
//
// Inputs without an answer, in their order. Those of a frontend with a name are numbered, and go
// again over a new connection: none is applied twice. Others end with their connection.

import { ConnectionLostError, OutOfOrderError, OverflowError } from "./errors.js";
import { Backoff } from "./waiting.js";

export class Outbox {
	#entries = new Set();
	#connection;
	#sequence = 0;
	#isNamed;
	#maximum;
	#backoff;
	/** While an input was refused for the moment, nothing is sent. */
	#pause;
	/** The lowest number that was refused so: the server waits for it. */
	#place;
	/** The number that the server had accepted last when the connection began. */
	#accepted = 0;
	#over;

	constructor(isNamed, { maximumPending = 10_000, backoff }) {
		this.#isNamed = isNamed;
		this.#maximum = maximumPending;
		this.#backoff = new Backoff(backoff);
	}

	get size() {
		return this.#entries.size;
	}

	/** An entry has `prepare(connection)`, `params()` and `answered(error, result)`. */
	add(entry) {
		if (this.#over) return entry.answered(this.#over);
		if (this.size >= this.#maximum) return entry.answered(new OverflowError("too many inputs wait"));
		this.#entries.add(entry);
		if (this.#connection && !this.#pause) this.#send(entry);
	}

	cancel(entry) {
		const { connection, id } = entry;
		if (this.#entries.delete(entry) && !entry.wasRefused)
			connection?.notify("$/cancelRequest", { id });
	}

	resume(connection, accepted) {
		this.#connection = connection;
		this.#pause = this.#place = undefined;
		this.#accepted = accepted ?? 0;
		this.#sequence = Math.max(this.#sequence, this.#accepted);
		// Also those that were accepted: the answer is still wanted.
		for (const entry of this.#entries) this.#send(entry);
	}

	lost() {
		this.#connection = undefined;
		clearTimeout(this.#pause);
		if (!this.#isNamed) this.#fail(new ConnectionLostError("the connection was lost"));
	}

	/** Another session: what was sent to the last one may have been applied there. */
	restart(error) {
		this.#fail(error);
		this.#sequence = 0;
	}

	end(error) {
		this.#over = error;
		clearTimeout(this.#pause);
		for (const entry of this.#entries) this.#answer(entry, error);
	}

	#fail(error) {
		for (const entry of this.#entries) if (entry.connection) this.#answer(entry, error);
	}

	#answer(entry, error, result) {
		if (this.#entries.delete(entry)) entry.answered(error, result);
	}

	#send(entry) {
		const connection = this.#connection;
		entry.prepare(connection);
		const params = entry.params();
		const sequence = entry.sequence ?? this.#sequence + 1;
		if (this.#isNamed) params.sequence = sequence;
		entry.connection = connection;
		entry.wasRefused = false;
		entry.id = connection.call("store/send", params, (error, result) => {
			// Of an input that was sent again after a loss, this is not the answer.
			if (error instanceof ConnectionLostError || entry.connection !== connection) return;
			if (this.#isNamed && isForTheMoment(error)) return this.#refused(entry, error);
			if (!error) this.#backoff.attempts = 0;
			this.#answer(entry, error, result);
		});
		// What cannot be sent takes no number: the server may wait for just this one.
		if (!entry.id) return;
		entry.sequence = sequence;
		this.#sequence = Math.max(this.#sequence, sequence);
	}

	#refused(entry, { sequence = entry.sequence }) {
		entry.wasRefused = true;
		this.#place = Math.min(this.#place ?? Infinity, sequence);
		this.#pause ??= setTimeout(() => this.#knock(), this.#backoff.next());
	}

	// After the answer to a ping, no number from the lowest refused one on has been used. The server
	// waits for that one, even if its input was given up meanwhile: counting goes on there. Numbers that
	// had been accepted when the connection began stay those of their inputs.
	#knock() {
		const connection = this.#connection;
		connection?.call("ping", {}, (error) => {
			if (error || connection !== this.#connection) return;
			const place = this.#place;
			// The input was given up, and no other may have its number. A new connection waits for none.
			if (place <= this.#accepted && ![...this.#entries].some(({ sequence }) => sequence === place))
				return connection.close();
			this.#sequence = Math.max(this.#accepted, place - 1);
			this.#pause = this.#place = undefined;
			for (const entry of this.#entries) {
				if (entry.connection === connection && !entry.wasRefused) continue;
				if (entry.sequence > this.#accepted) entry.sequence = undefined;
				this.#send(entry);
			}
		});
	}
}

/** Whether the same input may be accepted later, and keeps its place until then. */
const limits = ["inputsPerSecond", "openRequests", "outboxBytes"];
const isForTheMoment = (error) => error instanceof OutOfOrderError || limits.includes(error?.limit);

// SPDX-License-Identifier: Apache-2.0
//
// The pending inputs, in order. Inputs of a frontend with a name are numbered and sent again over a new
// connection: none is applied twice. Inputs of a frontend without a name fail with their connection.

import { ConnectionLostError, OutOfOrderError, TooManyPendingError } from "./errors.js";
import { Backoff } from "./waiting.js";

export class Outbox {
	#entries = new Set();
	#connection;
	#sequence = 0;
	#isNamed;
	#maximum;
	#backoff;
	/** A timer after a temporary refusal. While it is set, nothing is sent. */
	#pause;
	/** The lowest sequence number that was refused temporarily: the server waits for it. */
	#place;
	/** The last sequence number accepted when the connection began. */
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

	/** Adds an entry with `prepare(connection)`, `params()` and `onResponse(error, result)`. */
	add(entry) {
		if (this.#over) return entry.onResponse(this.#over);
		if (this.size >= this.#maximum) return entry.onResponse(new TooManyPendingError(`${this.size} inputs are pending`));
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
		// Including accepted ones: their responses are still missing.
		for (const entry of this.#entries) this.#send(entry);
	}

	lost() {
		this.#connection = undefined;
		clearTimeout(this.#pause);
		if (!this.#isNamed) this.#fail(new ConnectionLostError("the connection was lost"));
	}

	/** Fails inputs that were sent to a lost session: they may have been applied. */
	restart(error) {
		this.#fail(error);
		this.#sequence = 0;
	}

	end(error) {
		this.#over = error;
		clearTimeout(this.#pause);
		for (const entry of this.#entries) this.#complete(entry, error);
	}

	#fail(error) {
		for (const entry of this.#entries) if (entry.connection) this.#complete(entry, error);
	}

	#complete(entry, error, result) {
		if (this.#entries.delete(entry)) entry.onResponse(error, result);
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
			// The input was sent again over another connection.
			if (error instanceof ConnectionLostError || entry.connection !== connection) return;
			if (this.#isNamed && isTemporary(error)) return this.#refused(entry, error);
			if (!error) this.#backoff.attempts = 0;
			this.#complete(entry, error, result);
		});
		// An input that cannot be sent uses no number: the server may wait for exactly this one.
		if (!entry.id) return;
		entry.sequence = sequence;
		this.#sequence = Math.max(this.#sequence, sequence);
	}

	#refused(entry, { sequence = entry.sequence }) {
		entry.wasRefused = true;
		this.#place = Math.min(this.#place ?? Infinity, sequence);
		this.#pause ??= setTimeout(() => this.#retry(), this.#backoff.next());
	}

	// When the response to a ping arrives, the server has used no number from the lowest refused one on. It waits for
	// that one, even if its input was cancelled: numbering continues there. Inputs keep numbers that were
	// accepted before the connection began.
	#retry() {
		const connection = this.#connection;
		connection?.call("ping", {}, (error) => {
			if (error || connection !== this.#connection) return;
			const place = this.#place;
			// The input was cancelled and no other may use its number. A new connection waits for none.
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

/** Limits that refuse an input temporarily: it keeps its sequence number and is sent again. */
const limits = ["inputsPerSecond", "openRequests", "outboxBytes"];
const isTemporary = (error) => error instanceof OutOfOrderError || limits.includes(error?.limit);

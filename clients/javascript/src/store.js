// SPDX-License-Identifier: Apache-2.0

import { equal } from "./equal.js";
import { ConnectionLostError, OtherConfigurationError } from "./errors.js";
import { Replica } from "./replica.js";
import { patience } from "./waiting.js";

// An exception in a listener becomes an unhandled rejection and does not affect the store.
export async function guarded(listener, value) {
	listener(value);
}

/** One store of a session. The client subscribes to it while it has local subscribers. */
export class Store {
	#client;
	#replica = new Replica();
	/** Pending inputs with an optimistic update. */
	#optimistic = new Set();
	#subscribers = new Set();
	#listeners = new Set();
	/** The server subscription: "none", "pending" (the whole state is requested) or "active". */
	#subscription = "none";
	/** The last request for the whole state. Results of earlier ones are out of date. */
	#request;
	/** The connection over which the store was opened; true when that has succeeded. */
	#opened;
	#openError;
	#unchecked = 0;
	state;

	constructor(client, name, { kind, config } = {}) {
		this.#client = client;
		Object.assign(this, { name, kind, config });
	}

	get revision() {
		return this.#replica.revision;
	}

	get confirmed() {
		return this.#replica.state;
	}

	get isOptimistic() {
		return this.#optimistic.size > 0;
	}

	async *states({ signal } = {}) {
		const latest = {};
		let wake = () => {};
		const update = (change) => wake(Object.assign(latest, change));
		const stop = this.subscribe(
			(state) => update({ state, isNew: true }),
			(error) => update({ error, isOver: true }),
		);
		signal?.addEventListener("abort", update);
		try {
			while (!signal?.aborted) {
				if (latest.isNew) {
					latest.isNew = false;
					// Skipped states may lead back to the previous one.
					if (!equal(latest.given, latest.state)) yield (latest.given = latest.state);
				} else if (latest.error) throw latest.error;
				else if (latest.isOver) return;
				else await new Promise((resolve) => (wake = resolve));
			}
		} finally {
			signal?.removeEventListener("abort", update);
			stop();
		}
	}

	[Symbol.asyncIterator]() {
		return this.states();
	}

	subscribe(changed, ended = () => {}) {
		let given;
		const notify = () => {
			if (given !== this.state) changed((given = this.state));
		};
		return this._follow(notify, ended);
	}

	onEvent(listener) {
		const stop = this.subscribe(() => {});
		this.#listeners.add(listener);
		return () => {
			this.#listeners.delete(listener);
			stop();
		};
	}

	send(input, { settle, optimistic, signal, timeout, traceparent } = {}) {
		return new Promise((resolve, reject) => {
			const refusal = this.#client._claim(this);
			if (refusal) throw refusal;
			// A copy: the caller may change the input later. Throws if it is not JSON.
			input = JSON.parse(JSON.stringify(input));
			const outbox = this.#client._outbox;
			const entry = {
				optimistic,
				untilApplied: optimistic && settle === false,
				prepare: (connection) => this.#open(connection),
				params: () => ({ store: this.name, input, settle: settle ?? (optimistic && true), traceparent }),
				onResponse: (error, result) => {
					if (!signal?.aborted) enough();
					if (this.#optimistic.delete(entry)) this.#notify();
					if (error) return reject(this.#explained(error));
					// Updates arrive before the responses with their revisions.
					const { connection } = entry;
					if (result?.revision > this.revision && this.#subscription === "active")
						if (connection === this.#client._connection) this.#diverged(connection, "gap");
					resolve(result);
				},
			};
			const enough = patience({ signal, timeout }, (error) => {
				outbox.cancel(entry);
				entry.onResponse(error);
			});
			if (signal?.aborted) return;
			if (optimistic) {
				this.#optimistic.add(entry);
				this.#notify();
			}
			outbox.add(entry);
		});
	}

	async verify() {
		for (;;) {
			const connection = await this.#client._online();
			this.#open(connection);
			try {
				return await this.#verify(connection);
			} catch (error) {
				// Safe to repeat.
				if (!(error instanceof ConnectionLostError)) throw error;
			}
		}
	}

	async close() {
		await this.#client.request("store/close", { store: this.name });
		this._closed();
	}

	// For the client and the bindings.

	/** Subscribes. `notify` is called after each change, also where the state remains equal. */
	_follow(notify, ended) {
		const subscriber = { notify, ended };
		const error = this.#client._claim(this);
		if (error) guarded(ended, error);
		else {
			this.#subscribers.add(subscriber);
			if (this.state !== undefined) guarded(notify);
			this.#subscribe();
		}
		return () => {
			// Later: a component that is mounted again immediately keeps the subscription.
			if (this.#subscribers.delete(subscriber)) queueMicrotask(() => this._release());
		};
	}

	get _isUsed() {
		return this.#subscribers.size > 0;
	}

	/** Ends the subscription if no subscriber is left. */
	_release() {
		if (this._isUsed) return;
		if (this.#subscription !== "none")
			this.#client._connection?.call("store/unsubscribe", { store: this.name });
		this.#subscription = "none";
		this.#replica.forget();
		this.state = undefined;
	}

	/** `outcome` is the entry of this store in the result of `session/attach`. */
	_resume(outcome) {
		this.#subscription = outcome ? "active" : "none";
		if (outcome?.closed) this._closed();
		else if (outcome?.snapshot) this.#replace(outcome.snapshot, outcome.reason);
		else this.#subscribe();
	}

	_restart() {
		this.#opened = undefined;
		this.#replica.forget();
	}

	get _held() {
		return this.#subscribers.size ? this.revision : null;
	}

	_changed(params, connection) {
		// While the whole state is requested, updates start from another state.
		if (this.#subscription !== "active") return;
		const fault = this.#replica.apply(params);
		if (fault) return this.#diverged(connection, fault);
		for (const entry of this.#optimistic)
			if (entry.untilApplied && entry.connection === connection && entry.id <= params.applied)
				this.#optimistic.delete(entry);
		this.#notify();
		if (++this.#unchecked >= this.#client._verifyAfterUpdates) this.#verify(connection).catch(() => {});
	}

	_event(event) {
		for (const listener of this.#listeners) guarded(listener, event);
	}

	_closed(error) {
		const subscribers = [...this.#subscribers];
		this.#subscribers.clear();
		this.#subscription = "none";
		this._release();
		this._restart();
		for (const { ended } of subscribers) guarded(ended, error);
	}

	// Repeated over each connection until it succeeds: opening twice is harmless.
	#open(connection) {
		if (!this.kind || this.#opened === true || this.#opened === connection) return;
		this.#opened = connection;
		const { name: store, kind, config } = this;
		connection.call("store/open", { store, kind, config }, (error) => {
			if (error instanceof ConnectionLostError) return;
			this.#opened = !error;
			this.#openError = error;
			// A store with this name is open, but not the one that is wanted.
			if (!(error instanceof OtherConfigurationError)) return;
			if (this.#subscription !== "none") connection.call("store/unsubscribe", { store });
			this._closed(error);
		});
	}

	// The error of `store/open` is more specific than "unknown store".
	#explained(error) {
		return error.code === -32010 ? (this.#openError ?? error) : error;
	}

	#subscribe() {
		const connection = this.#client._connection;
		if (!connection || !this.#subscribers.size) return;
		this.#open(connection);
		if (this.#subscription === "none") this.#requestState(connection);
	}

	#diverged(connection, reason) {
		this.#client._emit("divergence", { store: this.name, reason });
		this.#requestState(connection, reason);
	}

	#requestState(connection, reason) {
		this.#subscription = "pending";
		const request = (this.#request = {});
		connection.call("store/subscribe", { store: this.name }, (error, result) => {
			if (connection !== this.#client._connection || this.#subscription !== "pending") return;
			if (request !== this.#request) return;
			if (error) return this._closed(this.#explained(error));
			this.#subscription = "active";
			this.#replace(result, reason);
		});
	}

	#verify(connection) {
		this.#unchecked = 0;
		return new Promise((resolve, reject) =>
			connection.call("store/state", { store: this.name }, (error, result) => {
				if (error) return reject(this.#explained(error));
				const reason = this.#subscription === "active" ? this.#replica.compare(result) : undefined;
				if (reason) {
					this.#client._emit("divergence", { store: this.name, reason });
					this.#replace(result, reason);
				}
				resolve(!reason);
			}),
		);
	}

	/** Takes the whole state; `reason` is set if it replaces another one. */
	#replace(snapshot, reason) {
		const before = this.state;
		this.#unchecked = 0;
		this.#replica.take(snapshot);
		this.#notify();
		if (reason) this.#client._emit("resynced", { store: this.name, reason, before });
	}

	#notify() {
		let { revision, state } = this.#replica;
		const apply = ({ optimistic }) => (state = optimistic(state));
		for (const entry of this.#optimistic) if (revision !== null) guarded(apply, entry);
		// Without a replica, the last state remains until the next one arrives.
		if (revision !== null && !equal(this.state, state)) this.state = state;
		for (const { notify } of this.#subscribers) guarded(notify);
	}
}

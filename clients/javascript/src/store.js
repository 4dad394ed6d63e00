// SPDX-License-Identifier: Apache-2.0

import { ConnectionLostError } from "./errors.js";
import { Replica } from "./replica.js";
import { patience } from "./waiting.js";

// What a listener throws is its own fault, and reported as what nobody has caught.
async function guarded(listener, value) {
	listener(value);
}

/** One store of a session. Its state follows the server's as long as somebody watches. */
export class Store {
	#client;
	#replica = new Replica();
	/** Inputs whose effect is drawn before they are answered. */
	#early = new Set();
	#watchers = new Set();
	#listeners = new Set();
	/** Whether frames come: "no", "soon" (the whole state is on its way) or "yes". */
	#follows = "no";
	/** The connection over which it was opened, true once that has worked. */
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

	async *states({ signal } = {}) {
		const news = {};
		let wake = () => {};
		const tell = (what) => wake(Object.assign(news, what));
		const stop = this.watch(
			(newest) => tell({ newest, isNew: true }),
			(error) => tell({ error, isOver: true }),
		);
		signal?.addEventListener("abort", tell);
		try {
			while (!signal?.aborted) {
				if (news.isNew) {
					news.isNew = false;
					yield news.newest;
				} else if (news.error) throw news.error;
				else if (news.isOver) return;
				else await new Promise((resolve) => (wake = resolve));
			}
		} finally {
			signal?.removeEventListener("abort", tell);
			stop();
		}
	}

	[Symbol.asyncIterator]() {
		return this.states();
	}

	watch(changed, ended = () => {}) {
		const watcher = { changed, ended };
		const { state, error } = this.#client.status;
		if (state === "closed") guarded(ended, error);
		else {
			this.#watchers.add(watcher);
			if (this.revision !== null) guarded(changed, this.state);
			this.#follow();
		}
		return () => {
			if (this.#watchers.delete(watcher) && !this.#watchers.size) this.#leave();
		};
	}

	onEvent(listener) {
		const stop = this.watch(() => {});
		this.#listeners.add(listener);
		return () => {
			this.#listeners.delete(listener);
			stop();
		};
	}

	send(input, { settle, draw, signal, timeout } = {}) {
		return new Promise((resolve, reject) => {
			// As it is now, however late it goes; what is no JSON is thrown here.
			input = JSON.parse(JSON.stringify(input));
			const outbox = this.#client._outbox;
			const entry = {
				draw,
				untilApplied: draw && settle === false,
				prepare: (connection) => this.#open(connection),
				params: () => ({ store: this.name, input, settle: settle ?? (draw && true) }),
				answered: (error, result) => {
					if (!signal?.aborted) enough();
					if (this.#early.delete(entry)) this.#publish();
					if (error) return reject(this.#explained(error));
					// Frames come before the answers that tell of their revisions.
					const { connection } = entry;
					if (result?.revision > this.revision && this.#follows === "yes")
						if (connection === this.#client._connection) this.#heal(connection, "gap");
					resolve(result);
				},
			};
			const enough = patience({ signal, timeout }, (error) => {
				outbox.cancel(entry);
				entry.answered(error);
			});
			if (signal?.aborted) return;
			if (draw) {
				this.#early.add(entry);
				this.#publish();
			}
			outbox.add(entry);
		});
	}

	async verify() {
		for (;;) {
			const connection = await this.#client._online();
			this.#open(connection);
			try {
				return await this.#check(connection);
			} catch (error) {
				// A question can be asked again.
				if (!(error instanceof ConnectionLostError)) throw error;
			}
		}
	}

	async close() {
		await this.#client.request("store/close", { store: this.name });
		this._closed();
	}

	// For the client alone.

	/** `outcome` is what `session/attach` says of this store. */
	_resume(outcome) {
		this.#follows = outcome ? "yes" : "no";
		if (outcome?.closed) this._closed();
		else if (outcome?.snapshot) this.#take(outcome.snapshot, outcome.reason);
		else this.#follow();
	}

	_restart() {
		this.#opened = undefined;
		this.#replica.forget();
	}

	get _held() {
		return this.#watchers.size ? this.revision : null;
	}

	_changed(params, connection) {
		// While the whole state is on its way, frames lead from one that we do not have.
		if (this.#follows !== "yes") return;
		const fault = this.#replica.change(params);
		if (fault) return this.#heal(connection, fault);
		for (const entry of this.#early)
			if (entry.untilApplied && entry.connection === connection && entry.id <= params.applied)
				this.#early.delete(entry);
		this.#publish();
		if (++this.#unchecked >= this.#client._checkEvery) this.#check(connection).catch(() => {});
	}

	_event(event) {
		for (const listener of this.#listeners) guarded(listener, event);
	}

	_closed(error) {
		this._restart();
		this.state = undefined;
		this.#follows = "no";
		const watchers = [...this.#watchers];
		this.#watchers.clear();
		for (const { ended } of watchers) guarded(ended, error);
	}

	// Over each connection until it has worked: once more does no harm.
	#open(connection) {
		if (!this.kind || this.#opened === true || this.#opened === connection) return;
		this.#opened = connection;
		const { name: store, kind, config } = this;
		connection.call("store/open", { store, kind, config }, (error) => {
			if (error instanceof ConnectionLostError) return;
			this.#opened = !error;
			this.#openError = error;
		});
	}

	// Why a store could not be opened says more than that it is not known.
	#explained(error) {
		return error.code === -32010 ? (this.#openError ?? error) : error;
	}

	#follow() {
		const connection = this.#client._connection;
		if (!connection || !this.#watchers.size || this.#follows !== "no") return;
		this.#open(connection);
		this.#synchronise(connection);
	}

	#leave() {
		if (this.#follows !== "no")
			this.#client._connection?.call("store/unsubscribe", { store: this.name });
		this.#follows = "no";
		this.#replica.forget();
		this.#publish();
	}

	#heal(connection, reason) {
		this.#client._emit("problem", { store: this.name, reason });
		this.#synchronise(connection, reason);
	}

	#synchronise(connection, reason) {
		this.#follows = "soon";
		connection.call("store/subscribe", { store: this.name }, (error, result) => {
			if (connection !== this.#client._connection || this.#follows !== "soon") return;
			if (error) return this._closed(this.#explained(error));
			this.#follows = "yes";
			this.#take(result, reason);
		});
	}

	#check(connection) {
		this.#unchecked = 0;
		return new Promise((resolve, reject) =>
			connection.call("store/state", { store: this.name }, (error, result) => {
				if (error) return reject(this.#explained(error));
				const reason = this.#follows === "yes" ? this.#replica.difference(result) : undefined;
				if (reason) {
					this.#client._emit("problem", { store: this.name, reason });
					this.#take(result, reason);
				}
				resolve(!reason);
			}),
		);
	}

	/** The whole state, for a reason where it is not the first one. */
	#take(snapshot, reason) {
		const before = this.state;
		this.#unchecked = 0;
		this.#replica.take(snapshot);
		this.#publish();
		if (reason) this.#client._emit("resynchronised", { store: this.name, reason, before });
	}

	#publish() {
		this.state = this.#replica.state;
		if (this.revision === null) return;
		for (const { draw } of this.#early) guarded((state) => (this.state = draw(state)), this.state);
		for (const { changed } of this.#watchers) guarded(changed, this.state);
	}
}

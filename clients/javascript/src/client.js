// SPDX-License-Identifier: Apache-2.0
//
// The first connection opens a session, each later one attaches to it again.

import { Connection } from "./connection.js";
import { equal } from "./equal.js";
import { RPCError, rpcError, SessionEndedError } from "./errors.js";
import { Outbox } from "./outbox.js";
import { Store } from "./store.js";
import { Backoff, patience } from "./waiting.js";

/** Errors that a new connection would not fix: unauthorised, protocol version, unknown method. */
const final = [-32016, -32017, -32601];

export class Client {
	#dial;
	#options;
	#events = new EventTarget();
	#stores = new Map();
	#phase = "active";
	#entered;
	#wake = () => {};
	#stop = () => {};
	status = { state: "connecting" };
	_outbox;
	_connection;

	constructor(dial, options = {}) {
		this.#dial = dial;
		this.#options = { name: "statewire-javascript", timeout: 30_000, ...options };
		const own = `js-${Math.random().toString(36).slice(2)}`;
		const { session = null, frontend = own, verifyAfterUpdates = 1000 } = options;
		Object.assign(this, { session, frontend, _verifyAfterUpdates: verifyAfterUpdates });
		this._outbox = new Outbox(frontend !== null, options);
		this.#run();
	}

	get pending() {
		return this._outbox.size;
	}

	on(type, listener) {
		const entry = ({ value }) => listener(value);
		this.#events.addEventListener(type, entry);
		return () => this.#events.removeEventListener(type, entry);
	}

	store(name, { kind, config } = {}) {
		const known = this.#stores.get(name);
		if (known && kind && !known.kind) Object.assign(known, { kind, config });
		if (known && (!kind || (kind === known.kind && equal(config ?? {}, known.config ?? {})))) return known;
		const store = new Store(this, name, { kind, config });
		if (!known) this.#stores.set(name, store);
		return store;
	}

	async connected() {
		await this._online();
	}

	request(method, params = {}, { signal, timeout = this.#options.timeout } = {}) {
		return new Promise((resolve, reject) => {
			let id, connection, isGivenUp;
			const enough = patience({ signal, timeout }, (error) => {
				isGivenUp = true;
				connection?.notify("$/cancelRequest", { id });
				reject(error);
			});
			const onResponse = (error, result) => {
				enough();
				error ? reject(error) : resolve(result);
			};
			this._online().then((online) => {
				if (isGivenUp) return;
				connection = online;
				id = connection.call(method, params, onResponse);
			}, onResponse);
		});
	}

	setPhase(phase) {
		this.#phase = phase;
		this.#entered?.call("frontend/lifecycle", { phase });
	}

	reconnect() {
		this.#wake();
	}

	close() {
		this.#finish(new SessionEndedError("clientClosed"));
	}

	async endSession() {
		await this.request("session/close");
		this.close();
	}

	/** Makes a store the one that receives the updates of its name. Returns the reason why it cannot. */
	_claim(store) {
		const { name } = store;
		const known = this.#stores.get(name);
		if (this.status.state === "closed") return this.status.error;
		if (known === store) return;
		if (known._isUsed)
			return rpcError({ code: -32018, message: `the store "${name}" is in use with another kind or configuration` });
		known._release();
		store._restart();
		this.#stores.set(name, store);
	}

	async _online() {
		while (!this._connection) {
			if (this.status.state === "closed") throw this.status.error;
			await new Promise((resolve) =>
				this.#events.addEventListener("status", resolve, { once: true }),
			);
		}
		return this._connection;
	}

	_emit(type, value) {
		this.#events.dispatchEvent(Object.assign(new Event(type), { value }));
	}

	async #run() {
		const backoff = new Backoff(this.#options.backoff);
		while (this.status.state !== "closed") {
			const began = Date.now();
			let error = await this.#serve();
			// The last error with id null is more specific.
			if (error.cause instanceof RPCError) error = error.cause;
			if (final.includes(error.code)) return this.#finish(error);
			// Delays keep growing while the server accepts connections and closes them immediately.
			if (this.status.state === "connected" && Date.now() - began > 1000) backoff.attempts = 0;
			const delay = backoff.next();
			this.#set({ state: "reconnecting", error, retryAt: Date.now() + delay });
			if (this.status.state === "closed") return;
			await new Promise((resolve) => {
				const timer = setTimeout(resolve, delay);
				this.#wake = () => resolve(clearTimeout(timer));
			});
		}
	}

	/** Runs one connection. Returns the error that ended it. */
	async #serve() {
		const { pingInterval, timeout } = this.#options;
		let connection, ended;
		const end = new Promise((resolve) => (ended = resolve));
		const dialling = new AbortController();
		this.#stop = () => {
			dialling.abort();
			connection?.close();
		};
		const timer = timeout && setTimeout(this.#stop, timeout);
		const listener = {
			notified: (method, params) => this.#notified(method, params, connection),
			ended: (error) => {
				this._connection = undefined;
				this._outbox.lost();
				ended(error);
			},
		};
		try {
			const { signal } = dialling;
			connection = await Connection.open(this.#dial, listener, { pingInterval, signal });
			await this.#greet(connection);
			clearTimeout(timer);
			return await end;
		} catch (error) {
			connection?.close();
			return error;
		} finally {
			clearTimeout(timer);
		}
	}

	async #greet(connection) {
		const { token, name, role } = this.#options;
		const { session, frontend } = this;
		// Callbacks handle a response before the updates that follow it are read.
		const ask = (method, params, then) =>
			new Promise((resolve, reject) =>
				connection.call(method, params, (error, result) =>
					error ? reject(error) : resolve(then?.(result)),
				),
			);
		// Attaching makes a frontend active. Then phases can be sent.
		const enter = (method, params, then) => {
			const entered = ask(method, params, then);
			this.#entered = connection;
			if (this.#phase === "inactive") this.setPhase("inactive");
			return entered;
		};
		const attach = (revisions) =>
			enter("session/attach", { session, frontend, role, revisions }, ({ stores, sequence }) =>
				this.#join(connection, stores, sequence),
			);
		const open = (lost) =>
			enter("session/open", { frontend }, (result) => {
				this._outbox.restart(lost);
				for (const store of this.#stores.values()) store._restart();
				this.session = result.session;
				this.#join(connection, {}, 0);
				this._emit("session", { session: this.session, lost });
			});
		const held = [...this.#stores.values()].filter(({ _held }) => _held !== null);
		const revisions = Object.fromEntries(held.map(({ name, _held }) => [name, _held]));
		const failed = (error) => {
			// The session is unknown or has expired.
			if (error.code === -32012 || error.code === -32013) return open(error);
			// One of the stores does not exist. Each is subscribed to separately.
			if (error.code === -32010) return attach({});
			throw error;
		};
		await Promise.all([
			ask("initialize", { protocolVersion: "1", client: { name }, token }, ({ limits }) =>
				Object.assign(connection.limits, limits),
			),
			session ? attach(revisions).catch(failed) : open(),
		]);
	}

	#join(connection, outcomes, sequence) {
		this._connection = connection;
		for (const [name, store] of this.#stores)
			store._resume(Object.hasOwn(outcomes, name) ? outcomes[name] : undefined);
		this._outbox.resume(connection, sequence);
		this.#set({ state: "connected" });
	}

	#notified(method, params, connection) {
		const store = this.#stores.get(params.store);
		if (method === "store/changed") store?._changed(params, connection);
		else if (method === "store/event") store?._event(params.event);
		else if (method === "store/closed") store?._closed();
		else if (method === "session/presence") this._emit("presence", params);
		else if (method === "session/traced") this._emit("traced", params);
		else if (method === "session/closed" && params.reason === "evicted")
			this.#finish(new SessionEndedError("evicted"));
		// The next connection finds that the session has ended and opens another one.
		else if (method === "session/closed") connection.close();
	}

	#set(status) {
		if (this.status.state === "closed") return;
		this.status = status;
		this._emit("status", status);
	}

	#finish(error) {
		if (this.status.state === "closed") return;
		this.#set({ state: "closed", error });
		this._outbox.end(error);
		this.#stop();
		this.#wake();
		const isWanted = error.reason === "clientClosed";
		for (const store of this.#stores.values()) store._closed(isWanted ? undefined : error);
		this._emit("closed", error);
	}
}

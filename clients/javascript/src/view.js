// SPDX-License-Identifier: Apache-2.0
//
// The view of one store that a component draws: shared by the bindings. view.d.ts documents the members.

import { canonical } from "./digest.js";
import { StatewireError, StoreClosedError } from "./errors.js";
import { guarded } from "./store.js";

/** A text that differs for different stores. */
export const viewKey = (name, { kind, config } = {}) =>
	canonical([name, kind ?? null, JSON.parse(JSON.stringify(config ?? null))]);

/** Making a view has no effect: a component may be drawn and discarded before it subscribes. */
export class StoreView {
	#client;
	#name;
	#options;
	#listeners = new Set();
	#error;
	/** The last value, and the last one that the listeners know. */
	#value;
	#notified;
	#stop = () => {};

	constructor(client, name, options) {
		this.#client = client;
		this.#name = name;
		this.#options = options;
		this.#value = this.initial = this.#with({ status: { state: "connecting" } });
	}

	/** Returns the same object until something has changed. */
	current = () => {
		const last = this.#value;
		const { state, isOptimistic } = this.#error ? {} : (this.#store ?? {});
		const { status } = this.#client ?? this.initial;
		const now = this.#with({ state, isOptimistic, status, error: this.#error });
		const isSame = Object.keys(now).every((name) => now[name] === last[name]);
		return isSame ? last : (this.#value = now);
	};

	/** Calls back after each change. The view subscribes to its store while it has a listener. */
	subscribe = (listener) => {
		const entry = { listener };
		this.#listeners.add(entry);
		if (this.#listeners.size === 1) this.#start();
		return () => {
			if (this.#listeners.delete(entry) && !this.#listeners.size) this.#stop();
		};
	};

	send = (input, options) =>
		this.#client
			? this.#store.send(input, options)
			: Promise.reject(new StatewireError("there is no client yet"));

	retry = () => {
		if (!this.#error || !this.#listeners.size) return;
		this.#stop();
		this.#start();
		this.#notify();
	};

	#with({ state, isOptimistic = false, status, error }) {
		const { send, retry } = this;
		return Object.freeze({ state, isOptimistic, status, error, send, retry });
	}

	// Not kept: after a change of the configuration, the client has another object.
	get #store() {
		return this.#client?.store(this.#name, this.#options);
	}

	#start() {
		const client = this.#client;
		if (!client) return;
		this.#error = undefined;
		this.#notified = this.current();
		const ended = (error) => {
			const { state, error: reason } = client.status;
			this.#error = error ?? (state === "closed" ? reason : new StoreClosedError(-32011, "the store is closed"));
			this.#notify();
		};
		const leave = [client.on("status", () => this.#notify()), this.#store._follow(() => this.#notify(), ended)];
		this.#stop = () => leave.forEach((stop) => stop());
	}

	#notify() {
		const now = this.current();
		if (now === this.#notified) return;
		this.#notified = now;
		for (const { listener } of [...this.#listeners]) guarded(listener);
	}
}

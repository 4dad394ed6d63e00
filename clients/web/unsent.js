// SPDX-License-Identifier: Apache-2.0
//
// Inputs to a list that the server has not answered. They are drawn at once and kept over a reload.
// Each may be sent again: todos have ids of the page's own, and the server adds none twice.

import { attempt, kept } from "./browser.js";

export class Unsent {
	/** In the order in which they were made: `input`, and `next`, the ids that follow a moved todo. */
	#entries = new Set();
	#client;
	#store;
	#listener;
	/** True while all of them survive a reload. */
	isKept = true;

	/** `listener` has `changed()` and `refused(input, reason)`. */
	constructor(client, store, listener) {
		this.#client = client;
		this.#store = store;
		this.#listener = listener;
		const entries = attempt(() => JSON.parse(kept.get("unsent")), []);
		for (const { input, next } of entries) this.send(input, next);
		// Those that the last session has answered with its end too, and in their order.
		client.on("session", ({ lost }) => {
			if (lost) for (const entry of this.#entries) this.#send(entry);
		});
	}

	get size() {
		return this.#entries.size;
	}

	send(input, next) {
		const entry = { input, next, isDoubtful: false };
		this.#entries.add(entry);
		this.#keep();
		this.#send(entry);
	}

	/** The todos as they will be once the server has all inputs. */
	foresee(todos) {
		if (!this.size) return todos;
		const byId = (todos) => new Map(todos.map((todo) => [todo.id, todo]));
		let all = byId(todos);
		for (const { input } of this.#entries) {
			const { type, id, title } = input;
			const todo = all.get(id);
			const isAdded = type === "todoAdded";
			if (isAdded && !todo) all.set(id, { id, title, completed: false, isSending: true });
			else if (isAdded || !todo) continue;
			else if (type === "todoRemoved") all.delete(id);
			else if (type === "todoRenamed") all.set(id, { ...todo, title });
			else if (type === "todoMoved") all = byId(moved([...all.values()], todo, input.before));
			else all.set(id, { ...todo, completed: type === "todoCompleted" });
		}
		return [...all.values()];
	}

	/** The list is there again after a failure: what of it is not in the list was not done. */
	settle(todos) {
		for (const entry of this.#entries) {
			if (!entry.isDoubtful) continue;
			const { type, id, title } = entry.input;
			const todo = todos.find((todo) => todo.id === id);
			const isDone = type === "todoRemoved" ? !todo : todo && (!title || todo.title === title);
			this.#forget(entry);
			if (!isDone) this.#listener.refused(entry.input, "the server could not save it");
		}
	}

	async #send(entry) {
		const { input } = entry;
		const sending = (entry.sending = {});
		entry.isDoubtful = false;
		let refusal;
		try {
			await this.#store.send(input, { settle: true });
		} catch (error) {
			refusal = error;
		}
		// Sent again meanwhile; or the client is closed, and the next one sends it again.
		if (entry.sending !== sending || (refusal && this.#client.status.state === "closed")) return;
		if (!refusal && this.#store.confirmed?.type === "error") {
			entry.isDoubtful = true;
			return;
		}
		this.#forget(entry);
		if (refusal) this.#listener.refused(input, refusal.message);
		else if (input.before) this.#mend(entry);
		this.#listener.changed();
	}

	/** The todo before which one was dropped was gone: it gets before the next one that is there. */
	#mend({ input, next = [] }) {
		const ids = new Set(this.#store.confirmed?.todos?.map(({ id }) => id));
		if (!ids.has(input.id) || ids.has(input.before)) return;
		const before = next.find((id) => ids.has(id)) ?? null;
		this.send({ ...input, before }, next);
	}

	#forget(entry) {
		this.#entries.delete(entry);
		this.#keep();
	}

	#isKeeping = false;
	#keep() {
		if (this.#isKeeping) return;
		this.#isKeeping = true;
		queueMicrotask(() => {
			this.#isKeeping = false;
			const entries = [...this.#entries].map(({ input, next }) => ({ input, next }));
			this.isKept = kept.set("unsent", JSON.stringify(entries));
		});
	}
}

/** The list with a todo before another one (null: at the end); as it is where that is not there. */
export function moved(todos, todo, before) {
	const others = todos.filter((other) => other !== todo);
	const at = before === null ? others.length : others.findIndex(({ id }) => id === before);
	return at < 0 ? todos : others.toSpliced(at, 0, todo);
}

// SPDX-License-Identifier: Apache-2.0
//
// Pending inputs to the list. They are shown immediately and survive a reload. Each may be sent again: the
// page chooses the ids of todos, and the server adds no id twice.

import { attempt, kept } from "./browser.js";

/** Validates an entry from storage, which may contain anything. */
function isEntry({ input: { type, id, title, before }, next = [], from = "", remoteTitle = "" }) {
	const texts = [id, before ?? "", from, remoteTitle, ...next, /Added|Renamed/.test(type) ? title : ""];
	return texts.every((text) => typeof text === "string");
}

/** True if a todo is in the state that an input leads to. */
const isDone = ({ type, title }, todo) =>
	type === "todoRemoved" ? !todo : todo && (!title || todo.title === title);

export class Unsent {
	/**
	 * In order of input: `input`; `next`, the ids that follow a moved todo; `from`, the title that the
	 * person saw; and `remoteTitle`, a title that another client has set meanwhile.
	 */
	#entries = new Set();
	#client;
	#store;
	#listener;
	/** True while all of them survive a reload. */
	isKept = true;

	/**
	 * `listener` has `changed()`, `refused(input, reason)`, and `replaced(remoteTitle, title)` for a title
	 * that has replaced the title of another client.
	 */
	constructor(client, store, listener) {
		this.#client = client;
		this.#store = store;
		this.#listener = listener;
		for (const entry of attempt(() => Array.from(JSON.parse(kept.get("unsent"))), []))
			if (attempt(() => isEntry(entry))) this.#add(entry);
		this.#keep();
		// Also inputs that failed with the previous session, in order.
		client.on("session", ({ lost }) => {
			if (lost) for (const entry of this.#entries) this.#send(entry);
		});
		// Every state counts: a title of another client may exist only briefly.
		store.subscribe(() => this.#observe());
	}

	get size() {
		return this.#entries.size;
	}

	send(input, next, from = input.title) {
		this.#add({ input, next, from });
	}

	#add(entry) {
		const { id, type } = entry.input;
		// A later input of the same type, or a removal, supersedes an earlier one.
		for (const other of this.#entries)
			if (other.input.id === id && [other.input.type, "todoRemoved"].includes(type))
				other.isUndone = true;
		this.#entries.add(entry);
		this.#keep();
		this.#send(entry);
	}

	/** Returns the todos after all pending inputs. */
	predict(todos) {
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

	/** Records titles of other clients, and checks inputs whose revision has arrived. */
	#observe() {
		const { todos } = this.#store.confirmed ?? {};
		const entries = [...this.#entries];
		const isUsed = ({ revision, input, from }) => revision >= 0 || input.title !== from;
		if (!todos || !entries.some(isUsed)) return;
		const byId = new Map(todos.map((todo) => [todo.id, todo]));
		for (const [id, own] of Map.groupBy(entries, ({ input }) => input.id)) {
			const todo = byId.get(id);
			const isOwn = ({ input, from }) => [input.title, from].includes(todo.title);
			if (todo && !own.some(isOwn) && own[0].remoteTitle !== todo.title) {
				own[0].remoteTitle = todo.title;
				this.#keep();
			}
			for (const entry of own)
				if (entry.revision <= this.#store.revision) this.#check(entry, todo);
		}
	}

	/** Checks an accepted input; `todo` is its todo now. Reports if it had no effect. */
	#check(entry, todo) {
		const { input, from = "it", remoteTitle, isUndone, hasFailed } = entry;
		const { type, id, title } = input;
		const isRight = isDone(input, todo);
		const own = [...this.#entries].filter((other) => other.input.id === id);
		const next = own[own.indexOf(entry) + 1];
		this.#forget(entry);
		if (next) next.remoteTitle ??= remoteTitle;
		if (isUndone && (next || !title || !remoteTitle)) return;
		const refuse = (reason) => this.#listener.refused(input, reason);
		if ((isRight || isUndone) && title && remoteTitle) this.#listener.replaced(remoteTitle, title);
		else if (isRight && input.before) this.#moveAgain(entry);
		else if (isRight) return;
		else if (hasFailed) refuse("the server cannot save it");
		else if (!todo && type !== "todoAdded") refuse(`“${from}” was removed by someone else`);
		else if (type === "todoRenamed") refuse(`someone else renamed it to “${todo.title}”`);
	}

	async #send(entry) {
		const { input } = entry;
		const sending = (entry.sending = {});
		entry.revision = undefined;
		const find = () => this.#store.confirmed?.todos?.find(({ id }) => id === input.id);
		let result, refusal;
		try {
			result = await this.#store.send(input, { settle: true });
			// Before a failure is reported, the list is loaded once more.
			if (this.#store.confirmed?.todos && !entry.isUndone && !isDone(input, find()))
				result = await this.#store.send({ type: "stateRequested" }, { settle: true });
		} catch (error) {
			refusal = error;
		}
		// It was sent again, or the client is closed and the next one sends it again.
		if (entry.sending !== sending || (refusal && this.#client.status.state === "closed")) return;
		if (refusal) {
			this.#forget(entry);
			this.#listener.refused(input, refusal.message);
		} else {
			const { confirmed, revision } = this.#store;
			entry.hasFailed = confirmed?.type === "error";
			// Checked when the list has this revision or a later one.
			entry.revision = result.revision;
			if (confirmed?.todos && result.revision <= revision) this.#check(entry, find());
		}
		this.#listener.changed();
	}

	/** Moves a todo again if the todo before which it was dropped was removed: before the next one. */
	#moveAgain({ input, next = [], from }) {
		const ids = new Set(this.#store.confirmed?.todos?.map(({ id }) => id));
		if (!ids.has(input.id) || ids.has(input.before)) return;
		const before = next.find((id) => ids.has(id)) ?? null;
		this.send({ ...input, before }, next, from);
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
			const plain = ({ input, next, from, remoteTitle }) => ({ input, next, from, remoteTitle });
			this.isKept = kept.set("unsent", JSON.stringify([...this.#entries].map(plain)));
		});
	}
}

/** Moves a todo before another one (null: to the end). Unchanged if the other one does not exist. */
export function moved(todos, todo, before) {
	const others = todos.filter((other) => other !== todo);
	const at = before === null ? others.length : others.findIndex(({ id }) => id === before);
	return at < 0 ? todos : others.toSpliced(at, 0, todo);
}

// SPDX-License-Identifier: Apache-2.0
//
// One JSON-RPC connection. Callbacks are called while a message is read: the frames that follow an
// answer find what it has set up. Promises would come too late for that.

import { ConnectionLostError, rpcError, StatewireError } from "./errors.js";
import { beatsPerHeartbeat, Liveness } from "./liveness.js";

const depth = (value) =>
	Object(value) === value ? 1 + Object.values(value).map(depth).reduce(larger, 0) : 0;
const larger = (a, b) => Math.max(a, b);

/** What the limits of frames, by their names, bound. */
const measures = {
	frameBytes: ({ text }) => new TextEncoder().encode(text).length,
	nesting: ({ message }) => depth(message),
};

export class Connection {
	#channel;
	#waiting = new Map();
	#lastId = 0;
	#listener;
	#timer;
	#liveness = new Liveness();
	/** Why the server ends the connection, where it has said so. */
	#refusal;
	isOver = false;
	/** The limits of the server's that `initialize` has told. */
	limits = {};

	/** `listener` is told of `notified(method, params)` and, once, `ended(error)`. */
	static async open(dial, listener, { heartbeat = 20_000, signal } = {}) {
		const connection = new Connection();
		connection.#listener = listener;
		connection.#channel = await dial({
			message: (text) => connection.#read(text),
			closed: (cause) => connection.close(cause),
			signal,
		});
		if (connection.isOver) throw new ConnectionLostError("the connection ended at once");
		if (heartbeat)
			connection.#timer = setInterval(() => connection.#beat(), heartbeat / beatsPerHeartbeat);
		return connection;
	}

	/**
	 * Sends a request; `answered(error, result)` is called once. Returns the request's id, undefined
	 * if the request cannot be sent.
	 */
	call(method, params, answered = () => {}) {
		const id = ++this.#lastId;
		const message = { jsonrpc: "2.0", id, method, params };
		try {
			if (this.isOver) throw new ConnectionLostError("there is no connection");
			const request = { answered, message, text: JSON.stringify(message) };
			this.#measure(request);
			this.#waiting.set(id, request);
			this.#channel.send(request.text);
			return id;
		} catch (error) {
			this.#waiting.delete(id);
			queueMicrotask(() => answered(error));
		}
	}

	notify(method, params) {
		if (!this.isOver) this.#channel.send(JSON.stringify({ jsonrpc: "2.0", method, params }));
	}

	close(cause) {
		if (this.isOver) return;
		this.isOver = true;
		clearInterval(this.#timer);
		this.#channel?.close();
		cause = this.#refusal ?? cause;
		const error = new ConnectionLostError("the connection was lost", { cause });
		for (const id of [...this.#waiting.keys()]) this.#answer(id, error);
		this.#listener.ended(error);
	}

	#measure(request) {
		for (const [limit, maximum] of Object.entries(this.limits))
			if (measures[limit]?.(request) > maximum) {
				const message = `the request exceeds the limit ${limit}, ${maximum}`;
				throw rpcError({ code: -32015, message, data: { limit } });
			}
	}

	#answer(id, error, result) {
		const request = this.#waiting.get(id);
		this.#waiting.delete(id);
		request?.answered(error, result);
		return request;
	}

	#read(text) {
		if (this.isOver) return;
		this.#liveness.heard();
		try {
			for (const message of [JSON.parse(text)].flat()) this.#take(message);
		} catch (error) {
			this.close(new StatewireError(`the server sent what it should not: ${error.message}`));
		}
	}

	#take({ id, method, params, error, result }) {
		if (method !== undefined) return this.#listener.notified(method, params ?? {});
		error &&= rpcError(error);
		if (!this.#answer(id, error, result) && id === null && error) this.#unusable(error);
	}

	// Which request an error with the id null belongs to: clients/CONFORMANCE.md, "Refused frames".
	#unusable(error) {
		const measure = measures[error.limit];
		const sent = [...this.#waiting.keys()];
		if (measure) {
			// Whatever is larger than a frame that was refused is refused too.
			const size = (id) => measure(this.#waiting.get(id));
			this.#answer(sent.reduce((most, id) => (size(id) > size(most) ? id : most), sent[0]), error);
		} else if (error.code !== -32700 && error.code !== -32600) this.#refusal = error;
		else if (sent.length)
			this.call("ping", {}, (lost) => {
				const open = sent.filter((id) => !lost && this.#waiting.has(id));
				const due = open.filter((id) => !this.#waiting.get(id).message.params?.settle);
				for (const id of due.length ? due : open) this.#answer(id, error);
			});
	}

	#beat() {
		const next = this.#liveness.beat(this.#waiting.size > 0);
		if (next === "ask") this.call("ping", {});
		if (next === "gone") this.close(new StatewireError("the server has fallen silent"));
	}
}

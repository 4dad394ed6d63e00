// SPDX-License-Identifier: Apache-2.0
//
// One JSON-RPC connection. Callbacks run while a message is read, so that the updates after a response
// find what the response has set up. Promises would run too late.

import { ConnectionLostError, rpcError, StatewireError } from "./errors.js";
import { beatsPerInterval, Liveness } from "./liveness.js";

const depth = (value) =>
	Object(value) === value ? 1 + Object.values(value).map(depth).reduce(larger, 0) : 0;
const larger = (a, b) => Math.max(a, b);

/** Measures a request for each limit of frames. */
const measures = {
	frameBytes: ({ text }) => new TextEncoder().encode(text).length,
	nesting: ({ message }) => depth(message),
};

export class Connection {
	#transport;
	#waiting = new Map();
	#lastId = 0;
	#listener;
	#timer;
	#liveness = new Liveness();
	/** The error with which the server closes the connection. */
	#refusal;
	isOver = false;
	/** The limits in the result of `initialize`. */
	limits = {};

	/** `listener` has the callbacks `notified(method, params)` and, called once, `ended(error)`. */
	static async open(dial, listener, { pingInterval = 20_000, signal } = {}) {
		const connection = new Connection();
		connection.#listener = listener;
		connection.#transport = await dial({
			message: (text) => connection.#read(text),
			closed: (cause) => connection.close(cause),
			signal,
		});
		if (connection.isOver) throw new ConnectionLostError("the connection ended immediately");
		if (pingInterval)
			connection.#timer = setInterval(() => connection.#beat(), pingInterval / beatsPerInterval);
		return connection;
	}

	/**
	 * Sends a request and calls `onResponse(error, result)` once. Returns the request id, or undefined
	 * if the request cannot be sent.
	 */
	call(method, params, onResponse = () => {}) {
		const id = ++this.#lastId;
		const message = { jsonrpc: "2.0", id, method, params };
		try {
			if (this.isOver) throw new ConnectionLostError("not connected");
			const request = { onResponse, message, text: JSON.stringify(message) };
			this.#measure(request);
			this.#waiting.set(id, request);
			this.#transport.send(request.text);
			return id;
		} catch (error) {
			this.#waiting.delete(id);
			queueMicrotask(() => onResponse(error));
		}
	}

	notify(method, params) {
		if (!this.isOver) this.#transport.send(JSON.stringify({ jsonrpc: "2.0", method, params }));
	}

	close(cause) {
		if (this.isOver) return;
		this.isOver = true;
		clearInterval(this.#timer);
		this.#transport?.close();
		cause = this.#refusal ?? cause;
		const error = new ConnectionLostError("the connection was lost", { cause });
		for (const id of [...this.#waiting.keys()]) this.#complete(id, error);
		this.#listener.ended(error);
	}

	#measure(request) {
		for (const [limit, maximum] of Object.entries(this.limits))
			if (measures[limit]?.(request) > maximum) {
				const message = `the request exceeds the limit ${limit} of ${maximum}`;
				throw rpcError({ code: -32015, message, data: { limit } });
			}
	}

	#complete(id, error, result) {
		const request = this.#waiting.get(id);
		this.#waiting.delete(id);
		request?.onResponse(error, result);
		return request;
	}

	#read(text) {
		if (this.isOver) return;
		this.#liveness.received();
		try {
			for (const message of [JSON.parse(text)].flat()) this.#take(message);
		} catch (error) {
			this.close(new StatewireError(`the server has violated the protocol: ${error.message}`));
		}
	}

	#take({ id, method, params, error, result }) {
		if (method !== undefined) return this.#listener.notified(method, params ?? {});
		error &&= rpcError(error);
		if (!this.#complete(id, error, result) && id === null && error) this.#refuse(error);
	}

	// Which request an error with the id null belongs to: clients/CONFORMANCE.md, "Refused frames".
	#refuse(error) {
		const measure = measures[error.limit];
		const sent = [...this.#waiting.keys()];
		if (measure) {
			// Any request larger than the refused one is refused too.
			const size = (id) => measure(this.#waiting.get(id));
			this.#complete(sent.reduce((most, id) => (size(id) > size(most) ? id : most), sent[0]), error);
		} else if (error.code !== -32700 && error.code !== -32600) this.#refusal = error;
		else if (sent.length)
			this.call("ping", {}, (lost) => {
				const open = sent.filter((id) => !lost && this.#waiting.has(id));
				const due = open.filter((id) => !this.#waiting.get(id).message.params?.settle);
				for (const id of due.length ? due : open) this.#complete(id, error);
			});
	}

	#beat() {
		const next = this.#liveness.beat(this.#waiting.size > 0);
		if (next === "ping") this.call("ping", {});
		if (next === "dead") this.close(new StatewireError("the server does not respond"));
	}
}

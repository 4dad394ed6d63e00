// SPDX-License-Identifier: Apache-2.0
//
// One JSON-RPC connection. Callbacks are called while a message is read: the frames that follow an
// answer find what it has set up. Promises would come too late for that.

import { ConnectionLostError, rpcError, StatewireError } from "./errors.js";

export class Connection {
	#channel;
	#waiting = new Map();
	#lastId = 0;
	#listener;
	#timer;
	/** How many beats ago the server was heard. */
	#silence = 0;
	/** Why the server ends the connection, where it has said so. */
	#refusal;
	isOver = false;

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
		if (heartbeat) connection.#timer = setInterval(() => connection.#beat(), heartbeat);
		return connection;
	}

	/** Sends a request; `answered(error, result)` is called once. Returns the request's id. */
	call(method, params, answered = () => {}) {
		const id = ++this.#lastId;
		if (this.isOver) queueMicrotask(() => answered(new ConnectionLostError("there is none")));
		else {
			this.#waiting.set(id, answered);
			this.#send({ id, method, params });
		}
		return id;
	}

	notify(method, params) {
		if (!this.isOver) this.#send({ method, params });
	}

	close(cause) {
		if (this.isOver) return;
		this.isOver = true;
		clearInterval(this.#timer);
		this.#channel?.close();
		cause = this.#refusal ?? cause;
		const error = new ConnectionLostError("the connection was lost", { cause });
		for (const answered of this.#waiting.values()) answered(error);
		this.#waiting.clear();
		this.#listener.ended(error);
	}

	#send(message) {
		this.#channel.send(JSON.stringify({ jsonrpc: "2.0", ...message }));
	}

	#read(text) {
		if (this.isOver) return;
		this.#silence = 0;
		try {
			for (const message of [JSON.parse(text)].flat()) this.#take(message);
		} catch (error) {
			this.close(new StatewireError("the server sent what it should not", { cause: error }));
		}
	}

	#take({ id, method, params, error, result }) {
		if (method !== undefined) return this.#listener.notified(method, params ?? {});
		const answered = this.#waiting.get(id);
		this.#waiting.delete(id);
		if (answered) answered(error && rpcError(error), result);
		else if (id === null && error) this.#refusal = rpcError(error);
	}

	// Who has been silent is asked; who does not answer that is gone.
	#beat() {
		this.#silence++;
		if (this.#silence === 2) this.call("ping", {});
		if (this.#silence > 2) this.close(new StatewireError("the server has fallen silent"));
	}
}

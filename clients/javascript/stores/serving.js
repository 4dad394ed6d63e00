// SPDX-License-Identifier: Apache-2.0
//
// Serves a store kind to a Statewire server on standard input and output.

import { closeSync, fstatSync, openSync, realpathSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Refusal } from "./effects.js";
import { checked } from "./frozen.js";
import { description, Machine } from "./kind.js";

/**
 * Serves a store kind until the server closes the standard input. Given the `import.meta` of a module, it serves only if
 * Node runs this module.
 */
export function serve(kind, meta) {
	if (meta && (!process.argv[1] || realpathSync(process.argv[1]) !== realpathSync(fileURLToPath(meta.url)))) return;
	const write = protocolOutput();
	// The log of the server has the last line of a program that ends: the error, and not the version of Node after it.
	process.on("uncaughtException", (error) => {
		if (process.listenerCount("uncaughtException") > 1) return;
		console.error(error);
		console.error(String(error));
		process.exit(1);
	});
	const program = new Program(kind, write);
	let begun = [];
	process.stdin.on("data", (chunk) => {
		const end = chunk.lastIndexOf(10);
		if (end < 0) return void begun.push(chunk);
		const lines = Buffer.concat([...begun, chunk.subarray(0, end)]).toString();
		begun = [chunk.subarray(end + 1)];
		// The responses to the requests of a read are one write. If they take long, each write has those of 50 ms, so
		// that the server is not woken for each. The last of them wait for the next one.
		let [responses, written] = ["", performance.now()];
		for (const line of lines.split("\n")) {
			responses += program.respond(line);
			if (performance.now() - written < 50) continue;
			if (responses) write(responses);
			[responses, written] = ["", performance.now()];
		}
		if (responses) write(responses);
	});
	process.stdin.on("end", () => process.exit(0));
}

/**
 * Returns a function that writes to the server. Other output goes to standard error from now on; on Linux also output to
 * descriptor 1, such as that of child processes that inherit it.
 */
function protocolOutput() {
	const write = process.stdout.write.bind(process.stdout);
	process.stdout.write = process.stderr.write.bind(process.stderr);
	try {
		// The streams that a server makes are pipes. A file that is opened again is not written at the same place.
		if (!fstatSync(2).isFIFO()) return write;
		const output = openSync("/proc/self/fd/1", "a");
		closeSync(openSync("/proc/self/fd/2", "a"));
		// Node has no `dup2`: a file that is opened gets the lowest free number.
		closeSync(1);
		openSync("/proc/self/fd/2", "a");
		return (text) => writeFileSync(output, text);
	} catch {
		return write;
	}
}

class Program {
	isTested = false;
	machines = new Map();
	// The work that has not ended and is not cancelled.
	works = new Map();

	constructor(kind, write) {
		Object.assign(this, { kind, write });
	}

	/** Returns the response to a line; "" if there is none yet. */
	respond(line) {
		let message;
		try {
			message = JSON.parse(line);
		} catch (error) {
			console.error(`a line of the server is not JSON: ${error.message}`);
			return "";
		}
		const { id, method, params = {} } = message;
		try {
			if (method === "machine/close") this.machines.delete(params.store);
			else if (method === "machine/cancel") this.cancel(params.run);
			else if (method === "machine/run") this.run(id, params);
			else if (id !== undefined) return result(id, this.result(method.replace("machine/", ""), params));
			return "";
		} catch (error) {
			return failure(id, error);
		}
	}

	result(method, params) {
		if (method === "describe") {
			this.isTested = Boolean(params.tests);
			return JSON.stringify(description(this.kind));
		}
		const machine = this.machines.get(params.store) ?? new Machine(this.kind, params);
		// The server carries out the rest of an endless chain of actions, and serves others meanwhile. Under test it carries
		// out all, because a test injects faults into them.
		const text = machine.turn(method, params, this.isTested ? 0 : 1000);
		this.machines.set(params.store, machine);
		return text;
	}

	cancel(run) {
		const work = this.works.get(run);
		// First, because the listeners of the signal are called now.
		this.works.delete(run);
		work?.abort();
	}

	async run(id, { store, run, name, arguments: args, attempt }) {
		const controller = new AbortController();
		this.works.set(run, controller);
		const send = (action) => {
			if (!this.works.has(run)) return;
			this.write(`${JSON.stringify({ jsonrpc: "2.0", method: "machine/send", params: { store, run, action } })}\n`);
		};
		try {
			const action = await perform(this.kind, name, args, send, { attempt, signal: controller.signal });
			this.write(result(id, JSON.stringify({ action })));
		} catch (error) {
			this.write(failure(id, error));
		}
		this.works.delete(run);
	}
}

/** Does work; returns its action, or undefined. `send` gets the actions that it sends meanwhile. */
export async function perform({ runs = {} }, name, args, send, context) {
	if (!Object.hasOwn(runs, name)) throw new Error(`unknown work ${name}`);
	const sendAction = (action) => {
		if (action === undefined || action === null) throw new TypeError("send: action must not be null");
		send(checked(action));
	};
	// The server takes null for no action.
	return checked(await runs[name](args, { ...context, name, send: sendAction })) ?? undefined;
}

const result = (id, text) => `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${text}}\n`;

/** Returns the response to a request that has failed. It does not throw: an author can throw any value. */
function failure(id, error) {
	const response = (members) => `${JSON.stringify({ jsonrpc: "2.0", id, error: members })}\n`;
	try {
		const { code, path, limit } = Object(error);
		const message = String(error?.message ?? error);
		if (error instanceof Refusal) return response({ code: -32602, message, data: { path, limit } });
		console.error(error);
		return response({ code: code === -32601 ? code : -32603, message });
	} catch {
		return response({ code: -32603, message: "the error has no JSON form" });
	}
}

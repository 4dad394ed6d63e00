// SPDX-License-Identifier: Apache-2.0
//
// A client of the chaos run with the JavaScript client of the project; the settings are a JSON text in the first
// argument. All messages are recorded between the library and its transport. The stores and the inputs are those of
// load.py, the events those of history.py. After a line of input it stops to send, and prints a line when it has all
// results; at the end of its input it records what the library shows.

import { closeSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";

import { Client, dial } from "../../clients/javascript/node.js";

const settings = JSON.parse(process.argv[2]);
const { name, session, addresses, folder, pause, seed } = settings;

let state = seed;
/** The generator mulberry32, so that a seed determines the inputs. */
function random() {
	state = (state + 0x6d2b79f5) | 0;
	let t = Math.imul(state ^ (state >>> 15), 1 | state);
	t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
	return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
}
const choice = (values) => values[Math.floor(random() * values.length)];
const wait = (seconds) => new Promise((resolve) => setTimeout(resolve, 1000 * seconds));

const file = openSync(join(folder, `${name}.jsonl`), "a");
let connections = 0;
function record(event, members, message) {
	const head = JSON.stringify({ at: Number(process.hrtime.bigint()), client: name, event, ...members });
	// The text of the message as it is: a line end in it can only be white space.
	writeSync(file, message === undefined ? `${head}\n` : `${head.slice(0, -1)},"message":${message.replace(/[\r\n]/g, " ")}}\n`);
}

function recorded(address) {
	const open = dial(address);
	return async (listener) => {
		const connection = ++connections;
		record("opened", { connection, address });
		const transport = await open({
			signal: listener.signal,
			message: (text) => {
				record("received", { connection }, text);
				listener.message(text);
			},
			closed: (error) => {
				record("closed", { connection, reason: String(error) });
				listener.closed(error);
			},
		});
		return {
			send: (text) => {
				record("sent", { connection }, text);
				transport.send(text);
			},
			close: () => transport.close(),
		};
	};
}

record("started", { settings });
const client = new Client(recorded(addresses[0]), {
	session,
	frontend: name,
	timeout: 5_000,
	pingInterval: 4_000,
	verifyAfterUpdates: 200,
	backoff: { base: 100, maximum: 2_000 },
});
const timer = {
	type: "mock",
	states: [
		{ state: { type: "loading", progress: null } },
		{ after: 1.5, state: { type: "loaded", value: "late" } },
	],
};
const kinds = {
	[`mine-${name}`]: { kind: "todo", config: { memory: { count: 0 } } },
	ours: { kind: "todo", config: { memory: { count: 0 } } },
	shared: { kind: "todo", config: { list: "chaos" } },
	[`add-${name}`]: { kind: "addTodo", config: { list: "chaos" } },
	[`form-${name}`]: { kind: "form", config: {} },
	[`timer-${name}`]: { kind: "loading", config: timer },
	balance: { kind: "balance", config: {} },
};
const stores = Object.fromEntries(Object.entries(kinds).map(([name, options]) => [name, client.store(name, options)]));
for (const store of Object.values(stores)) store.subscribe(() => {});

let count = 0;
const title = () => `${name}:${++count}`;
const removing = {};

function change(store, todos) {
	const isMine = store.startsWith("mine");
	const present = new Set(todos.map(({ id }) => id));
	const gone = (removing[store] = new Set([...(removing[store] ?? [])].filter((id) => present.has(id))));
	const own = todos.filter(({ id, title }) => !gone.has(id) && (isMine || title.startsWith(`${name}:`)));
	const remove = ({ id }) => {
		gone.add(id);
		return { type: "todoRemoved", id };
	};
	if (own.length > (isMine ? 12 : 4)) return remove(own[0]);
	if (!own.length || !isMine || random() < 0.5) return { type: "todoAdded", title: title() };
	const todo = choice(own);
	const type = choice(["todoRemoved", "todoRenamed", "todoCompleted", "todoReopened", "todoMoved"]);
	if (type === "todoRemoved") return remove(todo);
	if (type === "todoRenamed") return { type, id: todo.id, title: title() };
	if (type === "todoMoved") return { type, id: todo.id, before: choice([null, choice(own).id]) };
	return { type, id: todo.id };
}

/** Returns the next input as [store, input, settle]. */
function next() {
	const at = random() * 100;
	if (at < 6) return [`form-${name}`, { type: "entriesChanged", firstEntry: title(), secondEntry: title() }, false];
	if (at < 11) {
		const timer = stores[`timer-${name}`].state;
		return timer && timer.type !== "loading" ? [`timer-${name}`, { type: "load" }, true] : next();
	}
	if (at < 15) return ["balance", { type: "viewDidAppear" }, random() < 0.5];
	if (at < 18) return [`add-${name}`, { type: "addTodo", title: title() }, random() < 0.5];
	const store = at < 55 ? `mine-${name}` : at < 75 ? "ours" : "shared";
	const settle = store === "shared" && random() < 0.8;
	const state = stores[store].state;
	if (state?.type !== "content") return [store, { type: "stateRequested" }, settle];
	return [store, change(store, state.todos), settle];
}

let isStopping = false;
let isEnding = false;
process.stdin.on("data", () => (isStopping = true)).on("end", () => (isStopping = isEnding = true));
let pending = 0;
let resyncs = 0;
client.on("divergence", () => resyncs++);
while (!isStopping) {
	if (pending < 32) {
		const [store, input, settle] = next();
		pending++;
		stores[store]
			.send(input, { settle })
			.catch((error) => record("failed", { error: String(error) }))
			.finally(() => pending--);
	}
	await wait(random() * 2 * pause);
}
while (pending && !isEnding) await wait(0.05);
console.log("idle");
while (!isEnding) await wait(0.05);
const shown = Object.fromEntries(
	Object.entries(stores).filter(([name]) => name !== "balance").map(([name, { state }]) => [name, state]),
);
record("shown", { session: client.session, at_end: true, resyncs, stores: shown });
client.close();
closeSync(file);
process.exit(pending ? 1 : 0);

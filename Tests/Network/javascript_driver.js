// SPDX-License-Identifier: Apache-2.0
//
// Carries out the interactions of Tests/Scripts/unreliable-network with the JavaScript client: URL SCALE.

import { randomUUID } from "node:crypto";
import { createInterface } from "node:readline";

import { connect } from "../../clients/javascript/node.js";

const [url, scale] = process.argv.slice(2);
const client = connect(url, {
	timeout: 30_000 / scale,
	pingInterval: 20_000 / scale,
	backoff: { base: 200 / scale, maximum: 10_000 / scale },
});
let connections = 0;
client.on("status", ({ state }) => (connections += state === "connected"));
const store = client.store("todo");
store.subscribe(() => {});

const words = [];
let pending = 0;
const todos = () => store.state?.todos ?? [];
const shown = () => todos().map(({ title, completed }) => [title, completed]);

function send(input, change, times = 1) {
	const optimistic = (state) => (state.todos ? { ...state, todos: change(state.todos) } : state);
	for (let time = 0; time < times; time++) {
		pending++;
		store
			.send(input, { optimistic })
			.catch((error) => words.push(error.message))
			.finally(() => pending--);
	}
}

function add(title, times) {
	const todo = { id: randomUUID(), title, completed: false };
	const change = (todos) => (todos.some(({ id }) => id === todo.id) ? todos : [...todos, todo]);
	send({ type: "todoAdded", title, id: todo.id }, change, times);
}

function set(id, type, members, drawn) {
	const change = (todos) => todos.map((todo) => (todo.id === id ? { ...todo, ...drawn } : todo));
	send({ type, id, ...members }, change);
}

function move(id, to) {
	const before = todos().filter((todo) => todo.id !== id)[to]?.id ?? null;
	send({ type: "todoMoved", id, before }, (todos) => {
		const others = todos.filter((todo) => todo.id !== id);
		const at = before === null ? others.length : others.findIndex(({ id }) => id === before);
		// It may be drawn over a state that already contains it and later changes.
		if (at < 0) return todos;
		others.splice(at, 0, ...todos.filter((todo) => todo.id === id));
		return others;
	});
}

function act({ act, title, row, twice, to }) {
	const times = twice ? 2 : 1;
	if (act === "look") return { shown: shown() };
	if (act === "end") return { pending, shown: shown(), words, reconnects: connections - 1 };
	if (act === "add" || act === "refused") return add(title, times) ?? {};
	const todo = todos().find((todo) => todo.title === row);
	if (!todo) return { missing: true };
	const { id } = todo;
	if (act === "rename") set(id, "todoRenamed", { title }, { title });
	if (act === "move") move(id, to);
	if (act === "remove")
		send({ type: "todoRemoved", id }, (todos) => todos.filter((todo) => todo.id !== id), times);
	for (let { completed } = todo, time = 0; act === "tick" && time < times; time++) {
		completed = !completed;
		set(id, completed ? "todoCompleted" : "todoReopened", {}, { completed });
	}
	return {};
}

const say = (response) => console.log(JSON.stringify(response));
await store.send({ type: "stateRequested" }, { settle: true });
say({ ready: true });
for await (const line of createInterface({ input: process.stdin })) {
	try {
		say(act(JSON.parse(line)));
	} catch (error) {
		say({ failed: String(error) });
	}
}
client.close();

// SPDX-License-Identifier: Apache-2.0

import { $, announce, copy, element, write } from "./dom.js";
import { draggable } from "./drag.js";

/** What is done to the list is drawn at once, and settled by the server. */
export function todo(client) {
	const list = $("#todos");
	const store = client.store("todo");
	const rows = new Map();
	let todos = [];

	const problem = (text) => write($("#problem"), text);
	const send = (input, change) => {
		problem("");
		const draw = (state) => (state.todos ? { ...state, todos: change(state.todos) } : state);
		return store.send(input, { draw }).catch(({ message }) => problem(message));
	};
	const set = (type, id, members) =>
		send({ type, id, ...members }, (todos) =>
			todos.map((todo) => (todo.id === id ? { ...todo, ...members } : todo)),
		);

	function add(title) {
		const before = todos;
		const own = { id: `new ${Math.random()}`, title, completed: false };
		// Once the todo is there, under the server's id, ours is not drawn any more.
		const isIt = (todo) => todo.title === title && !before.some(({ id }) => id === todo.id);
		const draw = (todos) => (todos.some(isIt) ? todos : [...todos, own]);
		// What was refused goes back where it can be mended.
		send({ type: "todoAdded", title }, draw).then((answer) => answer || (field.value ||= title));
		announce(`${title} was added.`);
	}

	function move(id, index) {
		const moved = todos.find((todo) => todo.id === id);
		if (index < 0 || index >= todos.length || todos[index] === moved) return;
		const before = todos.filter((todo) => todo !== moved)[index]?.id ?? null;
		send({ type: "todoMoved", id, before }, (todos) => {
			const others = todos.filter((todo) => todo.id !== id);
			const at = others.findIndex((todo) => todo.id === before);
			others.splice(at < 0 ? others.length : at, 0, ...todos.filter((todo) => todo.id === id));
			return others;
		});
		announce(`${moved.title}, ${index + 1} of ${todos.length}`);
	}

	function remove({ id, title }) {
		const index = todos.findIndex((todo) => todo.id === id);
		send({ type: "todoRemoved", id }, (todos) => todos.filter((todo) => todo.id !== id));
		announce(`${title} was removed.`);
		const next = todos[Math.min(index, todos.length - 1)];
		(rows.get(next?.id)?.cross ?? field).focus();
	}

	function makeRow({ id }) {
		const node = copy("#row");
		const [grip, check, title, cross] = node.children;
		const row = { node, grip, check, title, cross };
		grip.onkeydown = (event) => {
			const index = todos.findIndex((todo) => todo.id === id);
			const last = todos.length - 1;
			const to = { ArrowUp: index - 1, ArrowDown: index + 1, Home: 0, End: last }[event.key];
			if (to === undefined) return;
			event.preventDefault();
			move(id, to);
		};
		check.onchange = ({ target: { checked: completed } }) =>
			set(completed ? "todoCompleted" : "todoReopened", id, { completed });
		title.onclick = () => edit(row);
		cross.onclick = () => remove(row.todo);
		draggable(node, grip, list, (index) => move(id, index), () => render(store.state));
		return row;
	}

	function edit({ title: button, todo: { id, title } }) {
		const ariaLabel = `New title of ${title}`;
		const field = element("input", { value: title, className: "title", ariaLabel });
		const done = (keeps) => {
			// Taking the field away, or to another place, ends its focus.
			if (!field.onblur || list.isPlacing) return;
			field.onblur = null;
			const hadFocus = document.activeElement === field;
			field.replaceWith(button);
			const text = field.value.trim();
			if (keeps && text && text !== title) set("todoRenamed", id, { title: text });
			if (hadFocus) button.focus();
		};
		field.onblur = () => done(true);
		field.onkeydown = (event) => {
			const { key, isComposing } = event;
			if (isComposing || (key !== "Enter" && key !== "Escape")) return;
			// Else the key would press the button that gets the focus.
			event.preventDefault();
			done(key === "Enter");
		};
		button.replaceWith(field);
		field.focus();
		field.select();
	}

	function update(row, todo) {
		row.todo = todo;
		const { title, completed } = todo;
		write(row.title, title);
		row.title.ariaLabel = `${title}, rename`;
		row.check.ariaLabel = `${title}, done`;
		row.check.checked = completed;
		row.grip.ariaLabel = `Move ${title}`;
		row.cross.ariaLabel = `Remove ${title}`;
		row.node.className = (completed ? "done " : "") + (todo.id.startsWith("new ") ? "sending" : "");
	}

	function render(state) {
		$("#todo").ariaBusy = state.type === "loading";
		const hasFailed = state.type === "error";
		if (hasFailed) problem(`An error occurred: ${state.message}`);
		$("#again").hidden = !hasFailed;
		if (!state.todos || list.isDragging) return;
		todos = state.todos;
		const open = todos.filter(({ completed }) => !completed).length;
		write($("#count"), todos.length ? `${open} of ${todos.length} open` : "");
		$("#empty").hidden = todos.length > 0;
		place();
	}

	// Rows stay, and are moved where they are not in their place: that takes the focus from one.
	function place() {
		const focused = document.activeElement;
		const tops = new Map([...rows.values()].map(({ node }) => [node, node.offsetTop]));
		list.isPlacing = true;
		const ids = new Set(todos.map(({ id }) => id));
		for (const [id, { node }] of rows)
			if (!ids.has(id)) {
				node.remove();
				rows.delete(id);
			}
		let at = list.firstChild;
		for (const todo of todos) {
			if (!rows.has(todo.id)) rows.set(todo.id, makeRow(todo));
			const row = rows.get(todo.id);
			update(row, todo);
			if (row.node === at) at = at.nextSibling;
			else list.insertBefore(row.node, at);
		}
		if (list.contains(focused)) focused.focus();
		list.isPlacing = false;
		if (matchMedia("(prefers-reduced-motion: reduce)").matches) return;
		for (const [node, top] of tops) {
			const by = top - node.offsetTop;
			if (by && node.isConnected) node.animate([{ transform: `translateY(${by}px)` }, {}], 180);
		}
	}

	const field = $("#add-title");
	field.value = sessionStorage.draft ?? "";
	field.oninput = () => (sessionStorage.draft = field.value);
	$("#add").onsubmit = (event) => {
		event.preventDefault();
		const text = field.value.trim();
		field.value = sessionStorage.draft = "";
		if (text) add(text);
	};
	const load = () => store.send({ type: "stateRequested" }).catch(() => {});
	$("#again").onclick = load;
	client.on("session", ({ lost }) => lost && load());
	store.watch(render);
	load();
}

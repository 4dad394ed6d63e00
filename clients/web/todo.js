// SPDX-License-Identifier: Apache-2.0

import { kept, newId } from "./browser.js";
import { $, announce, copy, unlessClosed, write } from "./dom.js";
import { drag } from "./drag.js";
import { edit, isEnd } from "./edit.js";
import { Rows } from "./rows.js";
import { moved, Unsent } from "./unsent.js";

/** Lists longer than this one have a field to find in: rows out of sight are not in the document. */
const long = 20;

/** What is done to the list is drawn at once, and settled by the server. */
export function todo(client) {
	const [list, field, find] = [$("#todos"), $("#add-title"), $("#find")];
	const store = client.store("todo");
	/** As the server showed it last, and with what it has not answered. */
	let confirmed = [];
	let todos = [];

	let told = [];
	const problem = (...text) => write($("#problem"), ...(told = text));
	/** Says it after what was said since the person did something: answers may come all at once. */
	const tell = (text, ...rest) => {
		const isFirst = !told.join("");
		const before = isFirst ? [] : told.length % 2 ? [...told, ""] : told;
		problem(...before, isFirst ? text : ` ${text}`, ...rest);
	};
	const rows = new Rows(list, $("#scroller"), { make, update, gone, emptied: () => field.focus() });
	const unsent = new Unsent(client, store, {
		changed: () => renderSoon(),
		refused: (...refusal) => queueMicrotask(() => refused(...refusal)),
		replaced: (...titles) => queueMicrotask(() => replaced(...titles)),
	});

	function send(input, next) {
		problem("");
		unsent.send(input, next, todos.find(({ id }) => id === input.id)?.title);
		render(true);
	}

	/** What was typed goes back to where it was typed. */
	function refused({ type, id, title }, reason) {
		render();
		const names = { todoAdded: "added", todoRenamed: "renamed", todoRemoved: "removed" };
		tell(`Not ${names[type] ?? "changed"}: `, reason, ".");
		if (!title) return;
		if (type === "todoRenamed") rows.reveal(rows.items.findIndex((todo) => todo.id === id));
		const row = type === "todoRenamed" && rows.get(id);
		if (!row || row.field) return returned(title);
		const hadFocus = row.node.contains(document.activeElement);
		const editor = open(row);
		editor.value = title;
		if (hadFocus) editor.focus();
	}

	function replaced(theirs, title) {
		render();
		tell("Another person had renamed it to ", theirs, "; your title takes its place: ", title);
	}

	/** Puts a text below what is in the field. */
	function returned(text) {
		const end = field.value.length;
		field.setRangeText(`${field.value && "\n"}${text}`, end, end, "preserve");
		field.oninput();
	}

	function lines() {
		const all = field.value.split(/[\r\n\u2028\u2029]+/);
		return all.map((line) => line.trim()).filter(Boolean);
	}

	function add(titles) {
		if (!titles.length) return;
		field.value = find.value = "";
		field.oninput();
		problem("");
		for (const title of titles) unsent.send({ type: "todoAdded", id: newId(), title });
		render(true);
		rows.reveal(rows.items.length - 1);
		announce(titles.length > 1 ? `${titles.length} todos were added.` : `${titles} was added.`);
	}

	/** Moves a todo to a place among those that are, or were, on screen; to the nearest one left. */
	function move({ id, title }, index) {
		const others = rows.items.filter((todo) => todo.id !== id);
		if (index < 0 || index > others.length) return;
		render();
		const todo = todos.find((todo) => todo.id === id);
		if (!todo) return problem("", title, " was removed meanwhile.");
		const rest = todos.filter((other) => other !== todo).map(({ id }) => id);
		const there = new Set(rest);
		const following = others.slice(index).map(({ id }) => id);
		const previous = others.slice(0, index).findLast(({ id }) => there.has(id));
		const after = previous ? rest[rest.indexOf(previous.id) + 1] : undefined;
		const before = following.find((id) => there.has(id)) ?? after ?? null;
		if (moved(todos, todo, before).every((other, i) => other === todos[i])) return;
		send({ type: "todoMoved", id, before }, following.slice(0, 20));
		announce(`${title}, ${index + 1} of ${rows.items.length}`);
	}

	function make() {
		const node = copy("#row");
		return { node, controls: [...node.children] };
	}

	function update({ node, item, controls }) {
		const { title, completed, isSending } = item;
		const [grip, check, button, cross] = controls;
		button.textContent = title;
		button.ariaLabel = `${title}, rename`;
		check.ariaLabel = `${title}, done`;
		check.checked = completed;
		grip.ariaLabel = `Move ${title}`;
		cross.ariaLabel = `Remove ${title}`;
		node.classList.toggle("done", completed);
		node.classList.toggle("sending", Boolean(isSending));
	}

	function gone(row) {
		if (!row.field) return;
		const text = row.text();
		const hadFocus = document.activeElement === row.field;
		row.close();
		if (text === undefined) return;
		returned(text);
		problem("", row.item.title, " was removed meanwhile. The text is above.");
		if (hadFocus) field.focus();
	}

	function open(row) {
		let from = row.item.title;
		return edit(row, (title) => {
			if (title === undefined || title === row.item.title) return;
			if (!title.trim()) {
				problem("A title must not be empty. Press Escape for the old one.");
				return false;
			}
			if (row.item.title !== from) {
				from = row.item.title;
				problem("It was renamed to ", from, " meanwhile. Enter replaces that, Escape keeps it.");
				return false;
			}
			const { id } = row.item;
			row.close();
			send({ type: "todoRenamed", id, title });
			return false;
		});
	}

	function render(isOwn) {
		if (!rows.isCurrent) return;
		const state = store.confirmed ?? { type: "loading" };
		const hasFailed = state.type === "error";
		if (hasFailed) problem("An error occurred: ", state.message);
		else if (!$("#again").hidden) problem("");
		$("#again").hidden = !hasFailed;
		if (state.todos) confirmed = state.todos;
		todos = unsent.foresee(confirmed);
		if (rows.carried) return;
		$("#todo").ariaBusy = state.type === "loading";
		const open = todos.filter(({ completed }) => !completed).length;
		const sought = find.value.trim().toLowerCase();
		const isShown = ({ id, title }) => title.toLowerCase().includes(sought) || rows.get(id)?.field;
		const shown = sought ? todos.filter(isShown) : todos;
		write($("#count"), todos.length ? `${open} of ${todos.length} open` : "");
		find.hidden = todos.length <= long && !find.value;
		$("#empty").hidden = shown.length > 0 || state.type === "loading";
		write($("#empty"), todos.length ? "No title has this text." : "Nothing is left to do.");
		rows.show(shown, isOwn);
	}

	let frame;
	function renderSoon() {
		cancelAnimationFrame(frame);
		frame = requestAnimationFrame(() => render());
	}

	list.onclick = (event) => {
		const { row, column } = rows.find(event.target);
		if (column === 2) {
			const editor = open(row);
			editor.focus();
			editor.select();
		}
		// The second click of a double one is on the row that came up.
		if (column !== 3 || event.detail > 1) return;
		announce(`${row.item.title} was removed.`);
		send({ type: "todoRemoved", id: row.item.id });
	};
	list.onchange = ({ target }) => {
		const { row, column } = rows.find(target);
		const type = target.checked ? "todoCompleted" : "todoReopened";
		if (column === 1) send({ type, id: row.item.id });
	};
	list.onkeydown = (event) => {
		const { row, column } = rows.find(event.target);
		if (!row || column < 0) return;
		// A key that is held down would remove one row after another.
		if (event.repeat && column > 0 && /^(Enter| )$/.test(event.key)) return event.preventDefault();
		const { index } = row;
		const last = rows.items.length - 1;
		const to = {
			ArrowUp: index - 1,
			ArrowDown: index + 1,
			PageUp: Math.max(0, index - 10),
			PageDown: Math.min(last, index + 10),
			Home: 0,
			End: last,
		}[event.key];
		if (to === undefined) return;
		event.preventDefault();
		if (column > 0) return rows.focus(to, column);
		move(row.item, to);
		rows.reveal(row.index);
	};
	list.onpointerdown = (event) => {
		const { row, column } = rows.find(event.target);
		if (column !== 0 || event.button || rows.carried) return;
		drag(rows, row, event, (to) => (to === undefined ? render() : move(row.item, to)));
	};

	find.oninput = () => {
		$("#scroller").scrollTop = 0;
		render(true);
		announce(find.value ? `${rows.items.length} found` : "");
	};
	field.value ||= kept.get("draft");
	let isDraftKept;
	field.oninput = () => {
		isDraftKept = kept.set("draft", field.value);
		const { length } = lines();
		write($("#add button"), length > 1 ? `Add ${length}` : "Add");
	};
	field.oninput();
	field.onkeydown = (event) => {
		if (!isEnd(event)) return;
		event.preventDefault();
		add(lines());
	};
	$("#add").onsubmit = (event) => {
		event.preventDefault();
		add(lines());
		field.focus();
	};
	const load = () =>
		store
			.send({ type: "stateRequested" })
			.catch(unlessClosed(client, (reason) => problem("Not loaded: ", reason)));
	$("#again").onclick = load;
	client.on("session", ({ lost }) => lost && load());
	store.watch(renderSoon);
	load();
	render();
	return () => {
		const isEdited = [...list.children].some(({ row }) => row.field && row.text() !== undefined);
		return isEdited || (!unsent.isKept && unsent.size > 0) || (!isDraftKept && field.value);
	};
}

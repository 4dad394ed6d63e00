// SPDX-License-Identifier: Apache-2.0

import { kept, newId } from "./browser.js";
import { $, announce, copy, unlessClosed, write } from "./dom.js";
import { drag } from "./drag.js";
import { edit, isEnd } from "./edit.js";
import { Rows } from "./rows.js";
import { moved, Unsent } from "./unsent.js";

/** Longer lists have a search field: the browser cannot search rows that are not in the document. */
const long = 20;

/** The task list. Changes are shown immediately and confirmed by the server. */
export function todo(client) {
	const [list, field, find] = [$("#todos"), $("#add-title"), $("#find")];
	const store = client.store("todo");
	/** The last list of the server, and the list after pending inputs. */
	let confirmed = [];
	let todos = [];

	let texts = [];
	const problem = (...text) => write($("#problem"), ...(texts = text));
	/** Appends a problem to those since the last action: several responses may arrive together. */
	const report = (text, ...rest) => {
		const isFirst = !texts.join("");
		const before = isFirst ? [] : texts.length % 2 ? [...texts, ""] : texts;
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

	/** Returns the typed text to the field in which it was typed. */
	function refused({ type, id, title }, reason) {
		render();
		const names = { todoAdded: "added", todoRenamed: "renamed", todoRemoved: "removed" };
		report(`Not ${names[type] ?? "changed"}: `, reason, ".");
		if (!title) return;
		if (type === "todoRenamed") rows.reveal(rows.items.findIndex((todo) => todo.id === id));
		const row = type === "todoRenamed" && rows.get(id);
		if (!row || row.field) return returned(title);
		const hadFocus = row.node.contains(document.activeElement);
		const editor = open(row);
		editor.value = title;
		if (hadFocus) editor.focus();
	}

	function replaced(remoteTitle, title) {
		render();
		report("Someone else renamed it to ", remoteTitle, ". Your title has replaced it: ", title);
	}

	/** Appends a text to the field, on a new line. */
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
		announce(titles.length > 1 ? `${titles.length} tasks added.` : `${titles} added.`);
	}

	/** Moves a todo to an index of the displayed rows; the nearest existing neighbours count. */
	function move({ id, title }, index) {
		const others = rows.items.filter((todo) => todo.id !== id);
		if (index < 0 || index > others.length) return;
		render();
		const todo = todos.find((todo) => todo.id === id);
		if (!todo) return problem("", title, " was removed by someone else.");
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
		button.ariaLabel = `Rename ${title}`;
		check.ariaLabel = `Done: ${title}`;
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
		problem("", row.item.title, " was removed by someone else. Your text is in the field above.");
		if (hadFocus) field.focus();
	}

	function open(row) {
		let from = row.item.title;
		return edit(row, (title) => {
			if (title === undefined || title === row.item.title) return;
			if (!title.trim()) {
				problem("The title must not be empty. Press Escape to restore it.");
				return false;
			}
			if (row.item.title !== from) {
				from = row.item.title;
				problem("Someone else renamed it to ", from, ". Press Enter to overwrite, Escape to keep.");
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
		todos = unsent.predict(confirmed);
		if (rows.dragged) return;
		$("#todo").ariaBusy = state.type === "loading";
		const open = todos.filter(({ completed }) => !completed).length;
		const sought = find.value.trim().toLowerCase();
		const isShown = ({ id, title }) => title.toLowerCase().includes(sought) || rows.get(id)?.field;
		const shown = sought ? todos.filter(isShown) : todos;
		write($("#count"), todos.length ? `${open} of ${todos.length} open` : "");
		find.hidden = todos.length <= long && !find.value;
		$("#empty").hidden = shown.length > 0 || state.type === "loading";
		write($("#empty"), todos.length ? "No matching tasks" : "No tasks");
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
		// The second click of a double click is on the next row.
		if (column !== 3 || event.detail > 1) return;
		announce(`${row.item.title} removed.`);
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
		// A held key would remove one row after the other.
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
		if (column !== 0 || event.button || rows.dragged) return;
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
			.catch(unlessClosed(client, (reason) => problem("Cannot load the list: ", reason)));
	$("#again").onclick = load;
	client.on("session", ({ lost }) => lost && load());
	store.subscribe(renderSoon);
	load();
	render();
	return () => {
		const isEdited = [...list.children].some(({ row }) => row.field && row.text() !== undefined);
		return isEdited || (!unsent.isKept && unsent.size > 0) || (!isDraftKept && field.value);
	};
}

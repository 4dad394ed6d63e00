// SPDX-License-Identifier: Apache-2.0
//
// The timeline of a session: the events of its stores since the console opened the session.

import { get, post, repeatedly } from "./api.js";
import { $, element, write } from "./dom.js";

/** The height of a row in pixels, as in style.css. Only the rows that can be seen exist. */
const ROW = 28;
/** The number of events that the page keeps. */
const KEPT = 20_000;
/** The number of events that are read to keep up; older ones are skipped. */
const BEHIND = 5000;

const LABELS = {
	opened: "opened",
	closed: "closed",
	input: "input",
	refused: "refused",
	action: "action",
	begin: "begins",
	output: "gives",
	end: "ends",
	cancel: "cancelled",
	update: "update",
	event: "event",
	gap: "gap",
};

const seconds = (microseconds) => (microseconds / 1e6).toFixed(3);

/** A duration as text, from microseconds. */
function took(microseconds) {
	if (microseconds < 1000) return `${microseconds} µs`;
	if (microseconds < 1e6) return `${(microseconds / 1000).toFixed(1)} ms`;
	return `${(microseconds / 1e6).toFixed(2)} s`;
}

/** The contents of an event as text; empty if it has none. */
function contents({ type, input, patch, event, skipped }) {
	if (type === "gap") return skipped === undefined ? "The recording stopped: this page did not read it" : `${skipped} events dropped`;
	if (patch) return patch.map(({ op, path, value }) => `${op} ${path || "/"}${value === undefined ? "" : ` ${JSON.stringify(value)}`}`).join("; ");
	const value = input ?? event;
	return value === undefined ? "" : JSON.stringify(value);
}

function about(event) {
	const parts = [];
	if (event.name && event.type !== "update" && event.name !== "input") parts.push(event.name);
	if (event.type === "update") parts.push(`revision ${event.revision}`);
	if (event.frontend) parts.push(`from ${event.frontend}`);
	if (event.failed) parts.push("failed");
	if (event.took !== undefined) parts.push(`after ${took(event.took)}`);
	return parts.join(" · ");
}

/** Shows the timeline. `select` is called with the event that is chosen. */
export function timeline(select) {
	let id;
	let store;
	let read = 0;
	let events = [];
	/** The events that are shown: those of the chosen store, or all. */
	let shown = [];
	/** The starts of operations that have not ended. */
	let starts = new Map();
	/** The number of the last row. Those of events begin again with each recording. */
	let lastRow = 0;
	let chosen;
	const list = $("#events");
	const space = $("#events-space");

	const isShown = (event) => !$("#only-store").checked || event.type === "gap" || event.store === store;

	function take(event) {
		const key = `${event.store}\n${event.stage}\n${event.number}`;
		if (event.type === "input" || event.type === "begin") {
			if (starts.size > 10_000) starts.clear();
			starts.set(key, event.at);
		} else if (event.type === "end" || event.type === "cancel") {
			if (starts.has(key)) event.took = event.at - starts.get(key);
			starts.delete(key);
		}
		event.row = ++lastRow;
		events.push(event);
		if (isShown(event)) shown.push(event);
	}

	function drop() {
		if (events.length <= KEPT) return;
		events = events.slice(-KEPT);
		shown = shown.filter(({ row }) => row >= events[0].row);
	}

	function render() {
		space.style.height = `${shown.length * ROW}px`;
		const first = Math.max(0, Math.floor(list.scrollTop / ROW) - 5);
		const last = Math.min(shown.length, Math.ceil((list.scrollTop + list.clientHeight) / ROW) + 5);
		const rows = shown.slice(first, last).map((event, index) => {
			const row = element(
				"div",
				{ className: `event ${event.type}`, role: "option", id: `event-${event.row}` },
				element("span", { className: "time", textContent: seconds(event.at ?? 0) }),
				element("span", { className: "of", textContent: event.store ?? "" }),
				element("b", { textContent: LABELS[event.type] ?? event.type }),
				element("span", { textContent: about(event) }),
				element("span", { className: "contents", textContent: contents(event).slice(0, 200) }),
			);
			row.ariaSelected = event === chosen ? "true" : "false";
			row.setAttribute("aria-posinset", first + index + 1);
			row.setAttribute("aria-setsize", shown.length);
			row.style.top = `${(first + index) * ROW}px`;
			row.onclick = () => choose(event);
			return row;
		});
		space.replaceChildren(...rows);
		if (chosen && rows.some((row) => row.id === `event-${chosen.row}`)) list.setAttribute("aria-activedescendant", `event-${chosen.row}`);
		else list.removeAttribute("aria-activedescendant");
		write($("#event-count"), `${shown.length} events`);
		$("#no-events").hidden = shown.length > 0;
	}

	function choose(event) {
		chosen = event;
		const at = shown.indexOf(event) * ROW;
		if (at < list.scrollTop) list.scrollTop = at;
		else if (at + ROW > list.scrollTop + list.clientHeight) list.scrollTop = at + ROW - list.clientHeight;
		render();
		const { took: _, row: __, ...whole } = event;
		$("#event").hidden = false;
		write($("#event pre"), JSON.stringify(whole, null, 2));
		select(event);
	}

	async function poll() {
		if (!id) return;
		const asked = id;
		// A list that is scrolled to its end follows new events.
		const follows = list.scrollTop + list.clientHeight >= shown.length * ROW - ROW;
		let rest = BEHIND;
		try {
			do {
				const next = await get("timeline", { session: id, after: read });
				if (asked !== id) return;
				if (!next.recording) {
					// The states and the events since the last reading are lost.
					if (read) take({ type: "gap", n: read + 0.5, at: events.at(-1)?.at ?? 0 });
					await post(`record?session=${encodeURIComponent(id)}`, {});
					read = 0;
					starts = new Map();
					return;
				}
				const start = Math.max(next.first, next.last - BEHIND);
				if (start > read + 1) {
					const from = next.events[0]?.at ?? 0;
					take({ type: "gap", n: start - 0.5, at: from, skipped: start - read - 1 });
					read = start - 1;
					if (next.events[0]?.n !== start) continue;
				}
				next.events.forEach(take);
				read = Math.max(read, next.read);
				rest -= next.events.length;
				if (read >= next.last) break;
			} while (rest > 0);
		} catch (error) {
			if (error.status === undefined) throw error;
			return;
		}
		drop();
		render();
		if (follows) {
			list.scrollTop = shown.length * ROW;
			render();
		}
	}

	function refilter() {
		shown = events.filter(isShown);
		if (!shown.includes(chosen)) chosen = undefined;
		render();
	}

	list.onscroll = render;
	list.onkeydown = (press) => {
		const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10, Home: -Infinity, End: Infinity };
		const step = steps[press.key];
		if (!step || !shown.length) return;
		press.preventDefault();
		const from = chosen ? shown.indexOf(chosen) : step > 0 ? -1 : shown.length;
		choose(shown[Math.min(shown.length - 1, Math.max(0, from + step))]);
	};
	$("#only-store").onchange = refilter;
	$("#clear").onclick = () => {
		[events, shown, chosen] = [[], [], undefined];
		$("#event").hidden = true;
		render();
	};
	new ResizeObserver(render).observe(list);
	const run = repeatedly(500, poll);
	return {
		/** All events that the page has, the oldest first. */
		get all() {
			return events;
		},
		choose(newID, newStore) {
			store = newStore;
			$("#timeline").hidden = !newID;
			if (newID !== id) {
				[id, read, events, chosen, starts] = [newID, 0, [], undefined, new Map()];
				$("#event").hidden = true;
			}
			refilter();
			run();
		},
	};
}

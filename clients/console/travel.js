// SPDX-License-Identifier: Apache-2.0
//
// Earlier states of a store: the state at a recorded revision, and what differs between two.

import { get } from "./api.js";
import { $, element, write } from "./dom.js";
import { isSame } from "./tree.js";

/** The number of differences that are shown. */
const SHOWN = 200;

const isContainer = (value) => typeof value === "object" && value !== null;

/** The differences between two JSON values, as `[path, before, after]`; undefined for a missing value. */
export function differences(before, after, path = "", found = []) {
	if (found.length > SHOWN || isSame(before, after)) return found;
	const canCompare = isContainer(before) && isContainer(after) && Array.isArray(before) === Array.isArray(after);
	if (!canCompare) found.push([path || "/", before, after]);
	else
		for (const key of new Set([...Object.keys(before), ...Object.keys(after)]))
			differences(before[key], after[key], `${path}/${key}`, found);
	return found;
}

const text = (value) => (value === undefined ? "nothing" : JSON.stringify(value));

/** Shows earlier states. `show` is called with a state, or with nothing for the current one. */
export function travel(show) {
	let id;
	let store;
	let revision;
	let newest = 0;

	const state = async (at) => (await get("state", { session: id, store, revision: at })).state;

	async function visit(wanted) {
		const asked = [id, store].join();
		// Set before the responses, so that quick presses go further.
		const previous = revision;
		revision = wanted;
		const isCurrent = () => asked === [id, store].join() && revision === wanted;
		try {
			const [now, before] = [await state(wanted), await state(wanted - 1).catch(() => undefined)];
			if (!isCurrent()) return;
			write($("#travel-note"), `Showing revision ${wanted}`);
			show(now, before);
		} catch (error) {
			if (!isCurrent()) return;
			revision = previous;
			if (error.status === undefined) throw error;
			write($("#travel-note"), `Revision ${wanted}: ${error.message}`);
		}
		$("#live").disabled = revision === undefined;
	}

	async function compare(event) {
		event.preventDefault();
		const [one, other] = [$("#from").valueAsNumber, $("#to").valueAsNumber];
		const list = $("#differences");
		try {
			const found = differences(await state(one), await state(other));
			write($("#difference-note"), found.length ? `${found.length > SHOWN ? `More than ${SHOWN}` : found.length} ${found.length === 1 ? "difference" : "differences"}` : "No difference");
			list.replaceChildren(
				...found.slice(0, SHOWN).map(([path, before, after]) =>
					element("li", {}, element("code", { textContent: path }), element("small", { textContent: `${text(before)} → ${text(after)}` })),
				),
			);
		} catch (error) {
			if (error.status === undefined) throw error;
			write($("#difference-note"), error.message);
			list.replaceChildren();
		}
	}

	function live() {
		revision = undefined;
		$("#live").disabled = true;
		write($("#travel-note"), "");
		show();
	}

	$("#earlier").onclick = () => {
		const shown = revision ?? newest;
		if (shown > 0) visit(shown - 1);
	};
	$("#later").onclick = () => ((revision ?? newest) < newest ? visit(revision + 1) : live());
	$("#live").onclick = live;
	$("#compare").onsubmit = compare;
	return {
		visit,
		/** The revision that is shown. */
		get shown() {
			return revision ?? newest;
		},
		/** True while an earlier state is shown. */
		get isAway() {
			return revision !== undefined;
		},
		/** Sets the selected store and its newest revision. */
		choose(newID, newStore, newNewest) {
			const isOther = newID !== id || newStore !== store;
			[id, store, newest] = [newID, newStore, newNewest];
			if (!isOther) return;
			revision = undefined;
			$("#live").disabled = true;
			for (const note of ["#travel-note", "#difference-note"]) write($(note), "");
			$("#differences").replaceChildren();
			$("#from").value = Math.max(0, newest - 1);
			$("#to").value = newest;
		},
	};
}

// SPDX-License-Identifier: Apache-2.0
//
// The difference of two states as JSON Patch. A part that is the same object in both is skipped without a look into it,
// so the cost follows the change. Elements of lists are the same if they are the same object or have the same `id`: an
// insertion, a removal and a move in a long list are one operation each.

import { frozen, frozenAlone } from "./frozen.js";

// A list with more moves is replaced, because each move searches the list.
const MAXIMUM_MOVES = 256;

const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
const has = (object, key) => Object.hasOwn(object, key) && object[key] !== undefined;

/** Returns the operations that make `old` to `next`. Freezes all parts of `next` that are new. */
export function difference(old, next) {
	const patch = [];
	compare(old, next, "", patch);
	return patch;
}

function compare(old, next, path, patch) {
	if (old === next) return;
	if (Array.isArray(old) && Array.isArray(next)) compareLists(old, next, path, patch);
	// Two cases of a union have few members in common.
	else if (isObject(old) && isObject(next) && old.type === next.type) compareObjects(old, next, path, patch);
	else patch.push({ op: "replace", path, value: frozen(next) });
}

function compareObjects(old, next, path, patch) {
	frozenAlone(next);
	const place = (key) => `${path}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`;
	for (const key of Object.keys(old))
		if (has(old, key) && !has(next, key)) patch.push({ op: "remove", path: place(key) });
	for (const key of Object.keys(next)) {
		if (!has(next, key)) continue;
		if (has(old, key)) compare(old[key], next[key], place(key), patch);
		else patch.push({ op: "add", path: place(key), value: frozen(next[key]) });
	}
}

function compareLists(old, next, path, patch) {
	frozenAlone(next);
	const shorter = Math.min(old.length, next.length);
	let start = 0;
	while (start < shorter && old[start] === next[start]) start++;
	let end = 0;
	while (end < shorter - start && old[old.length - 1 - end] === next[next.length - 1 - end]) end++;
	const a = old.slice(start, old.length - end);
	const b = next.slice(start, next.length - end);
	let [before, after] = [a.map(key), b.map(key)];
	// An id that occurs twice names no element: the elements are compared by their places.
	if (new Set(before).size < before.length || new Set(after).size < after.length)
		[before, after] = [[...a.keys()], [...b.keys()]];
	// The index in `a` of each element of `b`; -1 for new elements.
	const sources = paired(before, after);
	const kept = new Set(sources.filter((source) => source >= 0));
	const stay = increasing(sources);
	if (kept.size - stay.size > MAXIMUM_MOVES) {
		patch.push({ op: "replace", path, value: frozen([...next]) });
		return;
	}
	// The elements at this point of the patch, as indexes in `a`.
	const line = [...a.keys()];
	for (let index = a.length - 1; index >= 0; index--) {
		if (kept.has(index)) continue;
		patch.push({ op: "remove", path: `${path}/${start + index}` });
		line.splice(index, 1);
	}
	// The elements up to `position` are those of `b` that were seen, and some that move later.
	let position = -1;
	for (const [target, source] of sources.entries()) {
		if (stay.has(source)) position = line.indexOf(source, position + 1);
		else if (source >= 0) {
			const index = line.indexOf(source);
			line.splice(index, 1);
			if (index > position) position++;
			line.splice(position, 0, source);
			if (index !== position)
				patch.push({ op: "move", from: `${path}/${start + index}`, path: `${path}/${start + position}` });
		} else {
			line.splice(++position, 0, -1);
			patch.push({ op: "add", path: `${path}/${start + position}`, value: frozen(b[target]) });
		}
	}
	for (const [target, source] of sources.entries())
		if (source >= 0) compare(a[source], b[target], `${path}/${start + target}`, patch);
}

/**
 * Returns the index in `before` of each key of `after`, -1 for none. An element without an id that is gone, and a new
 * one at the same place, are one element that has changed.
 */
function paired(before, after) {
	const places = new Map(before.map((key, index) => [key, index]));
	const sources = after.map((key) => places.get(key) ?? -1);
	const stay = increasing(sources);
	const kept = new Set(sources);
	const hasID = (key) => typeof key === "string" && key.startsWith("id ");
	const gone = new Map();
	let last = -1;
	for (const [index, key] of before.entries()) {
		if (stay.has(index)) last = index;
		else if (!kept.has(index) && !hasID(key)) gone.set(last, [...(gone.get(last) ?? []), index]);
	}
	last = -1;
	for (const [index, source] of sources.entries()) {
		if (stay.has(source)) last = source;
		else if (source < 0 && !hasID(after[index]) && gone.get(last)?.length) sources[index] = gone.get(last).shift();
	}
	return sources;
}

/** Returns the elements of a longest increasing subsequence of the numbers that are not negative. */
function increasing(numbers) {
	const lasts = [];
	const previous = [];
	for (const [index, number] of numbers.entries()) {
		if (number < 0) continue;
		let [low, high] = [0, lasts.length];
		while (low < high) {
			const middle = (low + high) >> 1;
			if (numbers[lasts[middle]] < number) low = middle + 1;
			else high = middle;
		}
		previous[index] = lasts[low - 1];
		lasts[low] = index;
	}
	const result = new Set();
	for (let index = lasts.at(-1); index !== undefined; index = previous[index]) result.add(numbers[index]);
	return result;
}

/** Returns a key of an element: its id, its value or itself. */
function key(element) {
	if (isObject(element) && /^(string|number)$/.test(typeof element.id)) return `id ${typeof element.id} ${element.id}`;
	return typeof element === "object" && element !== null ? element : `value ${typeof element} ${element}`;
}

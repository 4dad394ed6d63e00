// SPDX-License-Identifier: Apache-2.0
//
// The difference of two states as JSON Patch. A part that is the same object in both is skipped without a look into it,
// so the cost follows the change. Elements of lists are the same if they are the same object or have the same `id`: an
// insertion, a removal and a move in a long list are one operation each.

import { place } from "./frozen.js";

// A list with more moves is replaced, because each move searches the list.
const MAXIMUM_MOVES = 256;

const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
const has = (object, key) => Object.hasOwn(object, key) && object[key] !== undefined;

/** Returns the operations that make `old` to `next`. */
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
	else patch.push({ op: "replace", path, value: next });
}

function compareObjects(old, next, path, patch) {
	for (const key of Object.keys(old))
		if (has(old, key) && !has(next, key)) patch.push({ op: "remove", path: place(path, key) });
	for (const key of Object.keys(next)) {
		if (!has(next, key)) continue;
		if (has(old, key)) compare(old[key], next[key], place(path, key), patch);
		else patch.push({ op: "add", path: place(path, key), value: next[key] });
	}
}

function compareLists(old, next, path, patch) {
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
	// An element without an id that is gone, and a new one at its place, are one element that has changed.
	const [gone, came] = [new Set(before), new Set(after)];
	const hasID = (key) => typeof key === "string" && key.startsWith("id ");
	after = after.map((key, index) =>
		gone.has(key) || came.has(before[index]) || hasID(key) || hasID(before[index]) ? key : (before[index] ?? key),
	);
	// First the other elements are removed, then those of both lists are sorted, then new ones are added.
	const olds = new Map(before.map((key, index) => [key, a[index]]));
	const ranks = new Map(after.filter((key) => olds.has(key)).map((key, rank) => [key, rank]));
	const first = patch.length;
	for (let index = a.length - 1; index >= 0; index--)
		if (!ranks.has(before[index])) patch.push({ op: "remove", path: `${path}/${start + index}` });
	const line = before.filter((key) => ranks.has(key)).map((key) => ranks.get(key));
	const maximum = patch.length + MAXIMUM_MOVES;
	for (let rank = 0; rank < line.length; rank++) {
		while (line[rank] !== rank) {
			if (patch.length === maximum) {
				patch.splice(first, Infinity, { op: "replace", path, value: next });
				return;
			}
			// The element that is here moves if its place is further away than the element that belongs here.
			const [found, away] = [line.indexOf(rank, rank), line[rank]];
			const [from, to] = away > found ? [rank, away] : [found, rank];
			line.splice(to, 0, ...line.splice(from, 1));
			patch.push({ op: "move", from: `${path}/${start + from}`, path: `${path}/${start + to}` });
		}
	}
	for (const [index, key] of after.entries()) {
		const at = `${path}/${start + index}`;
		if (olds.has(key)) compare(olds.get(key), b[index], at, patch);
		else patch.push({ op: "add", path: at, value: b[index] });
	}
}

/** Returns a key of an element: its id, its value or itself. */
function key(element) {
	if (isObject(element) && /^(string|number)$/.test(typeof element.id)) return `id ${typeof element.id} ${element.id}`;
	return typeof element === "object" && element !== null ? element : `value ${typeof element} ${element}`;
}

// SPDX-License-Identifier: Apache-2.0
//
// JSON Patch (RFC 6902) on immutable states: changed containers are copied, others shared.

import { canonical } from "./digest.js";
import { StatewireError } from "./errors.js";

export class PatchError extends StatewireError {}

const fail = (message) => {
	throw new PatchError(message);
};

export function applyPatch(state, operations) {
	if (!Array.isArray(operations)) fail("the patch is not an array");
	// Copies made by this patch are changed in place: many operations on a list copy it once.
	const own = new Set();
	return operations.reduce((root, operation) => apply(root, operation, own), state);
}

function apply(root, { op, path: pointer, from: source, value }, own) {
	const path = tokens(pointer);
	if (/add|replace|test/.test(op) && value === undefined) fail("the value is missing");
	if (op === "add") return change(root, path, own, insert, value);
	if (op === "replace") return change(root, path, own, replace, value);
	if (op === "remove") return change(root, path, own, remove);
	if (op === "test" && canonical(read(root, path)) !== canonical(value)) fail("the test operation failed");
	if (op === "test") return root;
	if (op !== "move" && op !== "copy") fail(`unknown operation ${op}`);
	const from = tokens(source);
	const moved = read(root, from);
	// The value is now in two places.
	if (op === "copy") own.clear();
	else if (pointer === source) return root;
	else if (pointer.startsWith(`${source}/`)) fail("a value cannot be moved into itself");
	else root = change(root, from, own, remove);
	return change(root, path, own, insert, moved);
}

function tokens(pointer) {
	if (pointer === "") return [];
	if (typeof pointer !== "string" || pointer[0] !== "/" || /~(?![01])/.test(pointer))
		fail(`not a JSON Pointer: ${pointer}`);
	const parts = pointer.slice(1).split("/");
	return parts.map((token) => token.replaceAll("~1", "/").replaceAll("~0", "~"));
}

const isContainer = (value) => typeof value === "object" && value !== null;

/** The key of a token in a container; in an array an index below `end`. */
function key(container, token, end = container.length) {
	if (!Array.isArray(container)) return token;
	return /^(0|[1-9]\d*)$/.test(token) && token < end ? Number(token) : fail(`no element ${token}`);
}

function child(container, token) {
	if (!isContainer(container) || !Object.hasOwn(container, key(container, token)))
		fail(`no member ${token}`);
	return container[token];
}

const read = (root, path) => path.reduce(child, root);

/** Returns the root after a change of one container, with copies of the containers on the path. */
function change(root, [token, ...rest], own, how, value) {
	if (token === undefined) return how === remove ? fail("the whole document cannot be removed") : value;
	if (!isContainer(root)) fail("the parent is neither an array nor an object");
	if (!own.has(root)) own.add((root = Array.isArray(root) ? [...root] : { ...root }));
	if (!rest.length) how(root, token, value);
	else put(root, token, change(child(root, token), rest, own, how, value));
	return root;
}

function insert(container, token, value) {
	if (!Array.isArray(container)) put(container, token, value);
	else if (token === "-") container.push(value);
	else container.splice(key(container, token, container.length + 1), 0, value);
}

function replace(container, token, value) {
	child(container, token);
	put(container, token, value);
}

function remove(container, token) {
	child(container, token);
	if (Array.isArray(container)) container.splice(token, 1);
	else delete container[token];
}

function put(container, at, value) {
	// An assignment to this name would change the prototype.
	const own = { value, writable: true, enumerable: true, configurable: true };
	if (at === "__proto__") Object.defineProperty(container, at, own);
	else container[at] = value;
}

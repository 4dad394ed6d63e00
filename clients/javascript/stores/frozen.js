// SPDX-License-Identifier: Apache-2.0

// The objects whose parts are all frozen, with the levels of objects in them. That an object is frozen says nothing
// about its parts.
const sealed = new WeakMap();

// Half of a pair, which the server replaces by U+FFFD: its state would be another one than that of the program.
const LONE_SURROGATE = /\p{Surrogate}/u;

/**
 * Freezes a value with all its parts, so that an update that changes its state in place throws, and that stores never
 * share a value that changes. Parts that were checked before are skipped. Throws as `checked` does.
 */
export const frozen = (value) => checked(value, "", sealed);

/**
 * Returns the value. Throws a `TypeError` with the path of a part that cannot be represented in JSON. A member that is
 * undefined is left out. If there is a map of `done` parts, they are skipped, and the others are frozen and added to it.
 */
export function checked(value, path = "", done = undefined) {
	const refuse = (part) => {
		throw new TypeError(`${part} cannot be represented in JSON${path && `, at ${path}`}`);
	};
	if (typeof value !== "object" || value === null) {
		if (typeof value === "number" && !Number.isFinite(value)) refuse(value);
		if (typeof value === "string" && LONE_SURROGATE.test(value)) refuse("a lone surrogate");
		if (/^(bigint|function|symbol)$/.test(typeof value)) refuse(`a ${typeof value}`);
	} else if (path.split("/").length + (done?.get(value) ?? 0) > 121) {
		// A value that contains itself ends here; the server accepts only a few more levels.
		refuse("a value in more than 120 others");
	} else if (!done?.has(value)) {
		const prototype = Object.getPrototypeOf(value);
		if (!Array.isArray(value) && prototype !== Object.prototype && prototype !== null)
			refuse(`a ${prototype.constructor?.name ?? "object with a prototype"}`);
		if (Array.isArray(value) && value.includes(undefined)) refuse("undefined in an array");
		for (const symbol of Object.getOwnPropertySymbols(value)) refuse(`the key ${String(symbol)}`);
		let levels = 0;
		for (const key of Object.keys(value)) {
			if (LONE_SURROGATE.test(key)) refuse("a key with a lone surrogate");
			const part = value[key];
			// The path is made only for a part that may need it.
			if (typeof part === "string" ? !LONE_SURROGATE.test(part) : Number.isFinite(part)) continue;
			checked(part, place(path, key), done);
			levels = Math.max(levels, 1 + (done?.get(part) ?? 0));
		}
		done?.set(Object.freeze(value), levels);
	}
	return value;
}

/** Returns the path of a member of the value at a path, as a JSON Pointer. */
export const place = (path, key) => `${path}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`;

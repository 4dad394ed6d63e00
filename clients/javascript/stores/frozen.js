// SPDX-License-Identifier: Apache-2.0

// The objects whose parts are all frozen. That an object is frozen says nothing about its parts.
const checked = new WeakSet();

/**
 * Freezes a value with all its parts, so that an update that changes its state in place throws. Parts that were checked
 * before are skipped. Throws if a part cannot be represented in JSON.
 */
export function frozen(value) {
	if (typeof value !== "object" || value === null) {
		const isPlain = Number.isFinite(value) || /^(string|boolean|undefined)$/.test(typeof value) || value === null;
		if (!isPlain) throw new TypeError(`${String(value)} cannot be represented in JSON`);
	} else if (!checked.has(value)) {
		const prototype = Object.getPrototypeOf(value);
		if (!Array.isArray(value) && prototype !== Object.prototype && prototype !== null)
			throw new TypeError(`a ${prototype.constructor.name} cannot be represented in JSON`);
		if (Array.isArray(value) && value.includes(undefined))
			throw new TypeError("undefined in an array cannot be represented in JSON");
		for (const part of Object.values(value)) frozen(part);
		Object.freeze(value);
		checked.add(value);
	}
	return value;
}

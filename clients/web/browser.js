// SPDX-License-Identifier: Apache-2.0
//
// Browser features that can be denied or missing. The page works without them.

/** Returns the result of `work`, or `otherwise` if it throws. */
export function attempt(work, otherwise) {
	try {
		return work();
	} catch {
		return otherwise;
	}
}

const memory = {};

/** Texts of this tab that survive a reload; kept in memory if storage is denied. */
export const kept = {
	get: (key) => memory[key] ?? attempt(() => sessionStorage.getItem(key)) ?? "",
	/** Returns true if the text survives a reload. */
	set(key, text) {
		memory[key] = text;
		return attempt(() => {
			sessionStorage.setItem(key, text);
			return true;
		}, false);
	},
};

export const isMotionReduced = () =>
	attempt(() => matchMedia("(prefers-reduced-motion: reduce)").matches, true);

/** Makes an id for a todo. `crypto.randomUUID` exists in secure contexts only. */
export const newId = () =>
	Array.from(crypto.getRandomValues(new Uint32Array(4)), (part) => part.toString(36)).join("");

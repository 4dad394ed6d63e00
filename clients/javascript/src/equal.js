// SPDX-License-Identifier: Apache-2.0

/** Compares JSON values. Parts that both share are not visited. Endless values differ. */
export function equal(a, b, left = 999) {
	if (a === b) return true;
	if (!left-- || Object(a) !== a || Object(b) !== b || Array.isArray(a) !== Array.isArray(b)) return false;
	if (Array.isArray(a)) return a.length === b.length && a.every((value, at) => equal(value, b[at], left));
	const keys = Object.keys(a);
	const isSame = (key) => Object.hasOwn(b, key) && equal(a[key], b[key], left);
	return keys.length === Object.keys(b).length && keys.every(isSame);
}

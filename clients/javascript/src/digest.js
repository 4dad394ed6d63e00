// SPDX-License-Identifier: Apache-2.0

/** RFC 8785: JSON.stringify writes strings and numbers as required, sort() orders keys as required. */
export function canonical(value) {
	if (typeof value !== "object" || value === null) return JSON.stringify(value);
	if (Array.isArray(value)) return `[${value.map(canonical)}]`;
	const member = (key) => `${JSON.stringify(key)}:${canonical(value[key])}`;
	return `{${Object.keys(value).sort().map(member)}}`;
}

const table = Int32Array.from({ length: 256 }, (_, byte) => {
	for (let bit = 0; bit < 8; bit++) byte = (byte >>> 1) ^ (byte & 1 ? 0xedb88320 : 0);
	return byte;
});

export function crc32(bytes) {
	let crc = -1;
	for (let i = 0; i < bytes.length; i++) crc = (crc >>> 8) ^ table[(crc ^ bytes[i]) & 0xff];
	return ~crc >>> 0;
}

export const digest = (state) => crc32(new TextEncoder().encode(canonical(state)));

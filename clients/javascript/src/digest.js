// SPDX-License-Identifier: Apache-2.0
//
// The digest that `store/state` gives: CRC-32 (IEEE 802.3) of the state in RFC 8785 form.

/** The text of a JSON value in the form of RFC 8785. */
export function canonical(value) {
  // JSON.stringify writes strings and numbers as the RFC demands: it was taken from there.
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  // Keys are compared by their UTF-16 units, as sort() does.
  const members = Object.keys(value).sort();
  return `{${members.map((key) => `${JSON.stringify(key)}:${canonical(value[key])}`).join()}}`;
}

const table = Uint32Array.from({ length: 256 }, (_, byte) => {
  for (let bit = 0; bit < 8; bit++) byte = (byte >>> 1) ^ (byte & 1 ? 0xedb88320 : 0);
  return byte;
});

export function crc32(bytes) {
  let crc = -1;
  for (let i = 0; i < bytes.length; i++) crc = (crc >>> 8) ^ table[(crc ^ bytes[i]) & 0xff];
  return ~crc >>> 0;
}

export function digest(state) {
  return crc32(new TextEncoder().encode(canonical(state)));
}

// SPDX-License-Identifier: Apache-2.0

export const $ = (selector, root = document) => root.querySelector(selector);

/** Makes an element with properties and children. */
export function element(tag, properties = {}, ...children) {
	const node = Object.assign(document.createElement(tag), properties);
	node.append(...children);
	return node;
}

/** Sets a text, unless it is the same: screen readers would repeat a live region. */
export function write(node, text) {
	if (node.textContent !== text) node.textContent = text;
}

/**
 * Shows a list of items. The elements of items with a known key stay, so that the focus stays too.
 *
 * `update` gets the element of an item, new or not.
 */
export function keyed(list, items, key, make, update) {
	const known = new Map([...list.children].map((node) => [node.dataset.key, node]));
	const nodes = items.map((item) => {
		const node = known.get(key(item)) ?? make(item);
		node.dataset.key = key(item);
		update(node, item);
		return node;
	});
	for (const node of list.children) if (!nodes.includes(node)) node.remove();
	nodes.forEach((node, index) => {
		if (list.children[index] !== node) list.insertBefore(node, list.children[index] ?? null);
	});
}

/** A duration as a short text. */
export function duration(milliseconds) {
	const seconds = Math.max(0, Math.round(milliseconds / 1000));
	if (seconds < 120) return `${seconds} s`;
	if (seconds < 7200) return `${Math.round(seconds / 60)} min`;
	if (seconds < 172_800) return `${Math.round(seconds / 3600)} h`;
	return `${Math.round(seconds / 86_400)} days`;
}

/** A number of bytes as a short text. */
export function bytes(count) {
	if (count < 1024) return `${count} B`;
	if (count < 1 << 20) return `${(count / 1024).toFixed(1)} KiB`;
	return `${(count / (1 << 20)).toFixed(1)} MiB`;
}

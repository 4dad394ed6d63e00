// SPDX-License-Identifier: Apache-2.0

export const $ = (selector, root = document) => root.querySelector(selector);

/** Those with a dash, and the role, are attributes. */
export function element(tag, properties, ...children) {
	const node = document.createElement(tag);
	for (const [name, value] of Object.entries(properties))
		if (/-|role/.test(name)) node.setAttribute(name, value);
		else node[name] = value;
	node.append(...children);
	return node;
}

/** Live regions are read out at each change, so there is none without need. */
export function write(node, text) {
	if (node.textContent !== text) node.textContent = text;
}

/** Tells a screen reader what everybody else sees. */
export const announce = (text) => write($("#said"), text);

export const isStill = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

// SPDX-License-Identifier: Apache-2.0

export const $ = (selector, root = document) => root.querySelector(selector);

export const element = (tag, properties) =>
	Object.assign(document.createElement(tag), properties);

export const copy = (selector) => $(selector).content.firstElementChild.cloneNode(true);

/** Live regions are read out at each change, so there is none without need. */
export function write(node, text) {
	if (node.textContent !== text) node.textContent = text;
}

export const announce = (text) => write($("#said"), text);

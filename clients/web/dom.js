// SPDX-License-Identifier: Apache-2.0

export const $ = (selector, root = document) => root.querySelector(selector);

export const element = (tag, properties) =>
	Object.assign(document.createElement(tag), properties);

export const copy = (selector) => $(selector).content.firstElementChild.cloneNode(true);

/**
 * Writes a text. Every second part is isolated, so that its bidirectional controls do not reorder
 * the others. A text that is there already is not written again: a live region would be read out.
 */
export function write(node, ...parts) {
	if (node.textContent === parts.join("")) return;
	const isolated = (textContent) => element("bdi", { textContent });
	node.replaceChildren(...parts.map((part, i) => (i % 2 ? isolated(part) : part)));
}

/** For screen readers alone. */
export const announce = (text) => write($("#said"), text);

/** Stays in sight until it is dismissed. */
export function notice(text) {
	write($("#notice span"), text);
	$("#notice").hidden = !text;
	announce(text);
}

/** Tells why a request failed, unless the client was closed: then another one has taken its place. */
export const unlessClosed = (client, tell) => (error) => {
	if (client.status.state !== "closed") tell(error.message);
};

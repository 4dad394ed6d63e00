// SPDX-License-Identifier: Apache-2.0

export const $ = (selector, root = document) => root.querySelector(selector);

export const element = (tag, properties) =>
	Object.assign(document.createElement(tag), properties);

export const copy = (selector) => $(selector).content.firstElementChild.cloneNode(true);

/**
 * Sets a text. Every second part is isolated, so that its bidirectional controls do not reorder the
 * others. An unchanged text is not set again: screen readers would repeat a live region.
 */
export function write(node, ...parts) {
	if (node.textContent === parts.join("")) return;
	const isolated = (textContent) => element("bdi", { textContent });
	node.replaceChildren(...parts.map((part, i) => (i % 2 ? isolated(part) : part)));
}

/** Announces a text to screen readers. */
export const announce = (text) => write($("#announcement"), text);

/** Shows a text until it is dismissed. */
export function notice(text) {
	write($("#notice span"), text);
	$("#notice").hidden = !text;
	announce(text);
}

/** Reports a failed request, unless the client was closed: then another client has replaced it. */
export const unlessClosed = (client, report) => (error) => {
	if (client.status.state !== "closed") report(error.message);
};

// SPDX-License-Identifier: Apache-2.0

import { element } from "./dom.js";

/** True for a press of Enter that ends a text; with Shift it is a line end. */
export const isEnd = ({ key, shiftKey, isComposing }) => key === "Enter" && !shiftKey && !isComposing;

/**
 * Lets the title of a row be edited in its place. `done(text)` is called when the editor is left,
 * with undefined where the person has not changed the text; where it returns false the editor stays.
 */
export function edit(row, done) {
	const { title } = row.item;
	const [, , button] = row.controls;
	const ariaLabel = `New title of ${title}`;
	const field = element("textarea", { value: title, className: "title", dir: "auto", ariaLabel });
	const before = field.value;
	field.rows = Math.min(before.split("\n").length, 10);
	row.field = field;
	row.text = () => (field.value === before ? undefined : changed(title, before, field.value));
	row.close = () => {
		const hadFocus = document.activeElement === field;
		row.field = field.onblur = undefined;
		field.remove();
		button.hidden = false;
		if (hadFocus) button.focus();
	};
	const leave = () => {
		if (row.field && done(row.text()) !== false) row.close();
	};
	field.onblur = leave;
	field.onkeydown = (event) => {
		const isOver = event.key === "Escape" && !event.isComposing;
		if (!isOver && !isEnd(event)) return;
		// Otherwise the key would press the button that gets the focus.
		event.preventDefault();
		isOver ? row.close() : leave();
	};
	button.hidden = true;
	button.after(field);
	return field;
}

/** A text area makes all line ends LF: those in the part that was not changed stay as they were. */
function changed(title, before, after) {
	const parts = title.match(/\r\n|[^]/g) ?? [];
	const least = Math.min(before.length, after.length);
	let start = 0;
	while (start < least && before[start] === after[start]) start++;
	let end = 0;
	while (end < least - start && before.at(-1 - end) === after.at(-1 - end)) end++;
	const middle = after.slice(start, after.length - end);
	return [...parts.slice(0, start), middle, ...parts.slice(parts.length - end)].join("");
}

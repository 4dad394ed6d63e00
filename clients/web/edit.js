// SPDX-License-Identifier: Apache-2.0

import { element } from "./dom.js";

/** True for Enter without Shift, which ends a text. */
export const isEnd = ({ key, shiftKey, isComposing }) => key === "Enter" && !shiftKey && !isComposing;

/**
 * Edits the title of a row in place. Calls `done(text)` when the editor loses the focus, with undefined
 * if the text is unchanged. If `done` returns false, the editor stays.
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
		// The key would also press the button that gets the focus.
		event.preventDefault();
		isOver ? row.close() : leave();
	};
	button.hidden = true;
	button.after(field);
	return field;
}

/** Keeps the line ends of unchanged parts of a title: a text area converts all line ends to LF. */
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

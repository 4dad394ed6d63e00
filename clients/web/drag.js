// SPDX-License-Identifier: Apache-2.0

import { attempt } from "./browser.js";

/** The distance to an edge in which the list scrolls, and the height of the page header, in pixels. */
const edge = 40;
const head = 72;

/**
 * Drags a row until the pointer is released. Until then only the display changes. Calls `ended` with
 * the new index, or undefined if the row stays.
 */
export function drag(rows, row, { pointerId, clientY, target }, ended) {
	const { list, scroller } = rows;
	const over = new AbortController();
	const origin = () => list.getBoundingClientRect().top;
	const grabbed = clientY - origin() - row.top;
	let y = clientY;
	let frame;

	// Layout is read once in each frame, before it is changed.
	const follow = () => rows.dragTo(row, y - origin() - grabbed - row.top);
	const step = () => {
		frame = requestAnimationFrame(step);
		const { top, bottom } = scroller.getBoundingClientRect();
		const above = y - Math.max(top, head) - edge;
		const below = y - Math.min(bottom, innerHeight) + edge;
		const by = (Math.min(above, 0) + Math.max(below, 0)) / 2;
		const from = scroller.scrollTop;
		if (by) scroller.scrollTop = from + by;
		const isCut = by < 0 ? top < head : bottom > innerHeight;
		if (by && isCut && scroller.scrollTop === from) scrollBy(0, by);
		follow();
	};
	const end = (isDropped) => {
		over.abort();
		cancelAnimationFrame(frame);
		if (isDropped) follow();
		const { to } = rows.dragged;
		row.node.classList.remove("dragged");
		list.classList.remove("dragging");
		rows.drop();
		ended(isDropped && to !== row.index ? to : undefined);
	};
	const on = (type, act) => addEventListener(type, act, { signal: over.signal, capture: true });
	const own = (act) => (event) => event.pointerId === pointerId && act(event);
	on("pointermove", own((event) => (y = event.clientY)));
	on("pointerup", own((event) => ((y = event.clientY), end(true))));
	on("pointercancel", own(() => end(false)));
	on("lostpointercapture", own(() => end(false)));
	on("keydown", (event) => {
		if (event.key === "Escape") end(false);
	});
	attempt(() => target.setPointerCapture(pointerId));
	row.node.classList.add("dragged");
	list.classList.add("dragging");
	rows.dragTo(row, 0);
	frame = requestAnimationFrame(step);
}

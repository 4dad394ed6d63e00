// SPDX-License-Identifier: Apache-2.0
//
// A virtual list: only rows near the visible part are in the document, at computed positions. The height
// of a row is estimated until it has been drawn. Nothing here forces a layout twice.

import { attempt, isMotionReduced } from "./browser.js";

/** The duration of the animation of a moved row, in milliseconds. */
const moving = 180;

export class Rows {
	items = [];
	/** The top of each item, in pixels; the last number is the total height. */
	tops = [0];
	list;
	scroller;
	/** The dragged row: `row`, `to` (an index) and `by` (pixels). */
	dragged;
	#heights = new Map();
	/** The estimated height of a row that has not been drawn: the smallest known height. */
	#lowest = Infinity;
	#rows = new Map();
	#parts;
	#scrollTop = 0;
	#mustScroll = false;
	#view = innerHeight;
	#width;
	#moved = 0;
	#observer = new ResizeObserver((entries) => this.#measured(entries));
	#frame;

	/**
	 * `parts` has `make()`, which returns a row with `node` and `controls`, and `update(row)`;
	 * `gone(row)`, called for a row in use whose item was removed, before its node is removed; and
	 * `emptied()`, called if such a row had the focus and no other row can get it.
	 */
	constructor(list, scroller, parts) {
		Object.assign(this, { list, scroller });
		this.#parts = parts;
		list.replaceChildren();
		list.rows = this;
		scroller.onscroll = () => {
			this.#scrollTop = scroller.scrollTop;
			this.#drawSoon();
		};
		onresize = () => {
			this.#view = innerHeight;
			this.#drawSoon();
		};
		this.#observer.observe(list);
	}

	/** False after the list has changed to another session. */
	get isCurrent() {
		return this.list.rows === this;
	}

	get(id) {
		return this.#rows.get(id);
	}

	/** Finds the row and the column (the index of a control) of a node. */
	find(node) {
		const row = node?.closest?.("#todos li")?.row;
		return { row, column: row?.controls.indexOf(node.closest("button, input, textarea")) };
	}

	/** Shows items. Visible rows keep their position, unless the person changed the list. */
	show(items, isOwn) {
		const { row: focused, column } = this.find(document.activeElement);
		const at = focused?.index;
		const scrolled = this.#scrollTop;
		const before = this.#positions();
		this.items = items;
		this.#place();
		if (!isOwn) this.#anchor(before);
		for (const { row } of before) if (row.index < 0 && this.#isUsed(row)) this.#parts.gone(row);
		this.draw();
		this.#animate(before, scrolled);
		if (!(focused?.index < 0) || document.activeElement !== document.body) return;
		if (items.length) this.focus(Math.min(at, items.length - 1), column < 0 ? 2 : column);
		else this.#parts.emptied();
	}

	/** Draws the rows near the visible part, and the rows in use. */
	draw() {
		cancelAnimationFrame(this.#frame);
		this.#frame = undefined;
		if (!this.isCurrent) return;
		const { items, dragged } = this;
		// The list may have become shorter.
		const top = Math.min(this.#scrollTop, this.tops.at(-1) - this.#view);
		const first = Math.max(0, this.#at(top - this.#view / 4) - 1);
		const end = Math.min(items.length, this.#at(this.#scrollTop + 1.1 * this.#view) + 1);
		const isFar = ({ index }) => index >= 0 && (index < first || index >= end);
		const far = [...this.#rows.values()].filter((row) => isFar(row) && this.#isUsed(row));
		const indexes = far.map(({ index }) => index);
		for (let index = first; index < end; index++) indexes.push(index);
		indexes.sort((a, b) => a - b);

		const wanted = new Set(indexes.map((index) => items[index].id));
		for (const [id, { node }] of this.#rows)
			if (!wanted.has(id)) {
				this.#rows.delete(id);
				this.#observer.unobserve(node);
				node.remove();
			}
		const rows = indexes.map((index) => this.#row(items[index], index));
		this.#order(rows.map(({ node }) => node));
		for (const row of rows) this.#put(row, dragged);
		this.#scroll();
	}

	/** Scrolls to make an item visible. */
	reveal(index) {
		if (!this.items[index]) return;
		const height = this.scroller.clientHeight;
		const most = this.tops[index];
		const least = this.tops[index + 1] - height;
		this.#scrollTop = Math.max(0, Math.min(Math.max(this.#scrollTop, least), most));
		this.#mustScroll = true;
		this.draw();
	}

	focus(index, column) {
		this.reveal(index);
		this.get(this.items[index]?.id)?.controls[column].focus();
	}

	/** Finds the index of the item at a position, in pixels from the top. */
	#at(y) {
		let [low, high] = [0, this.items.length];
		while (low < high) {
			const middle = (low + high) >> 1;
			if (this.tops[middle + 1] <= y) low = middle + 1;
			else high = middle;
		}
		return low;
	}

	/** Shows a row `by` pixels from its position, and the others as they will be after the drop. */
	dragTo(row, by) {
		const { tops } = this;
		const { index } = row;
		const centre = (tops[index] + tops[index + 1]) / 2 + by;
		const at = this.#at(centre);
		const isPast = centre > (tops[at] + tops[at + 1]) / 2;
		const others = at + (isPast ? 1 : 0);
		// A row below the end would extend the list.
		by = Math.max(-tops[index], Math.min(by, tops.at(-1) - tops[index + 1]));
		this.dragged = { row, by, to: others > index ? others - 1 : others };
		this.draw();
	}

	/** Shows each row at its own position again. */
	drop() {
		this.dragged = undefined;
		this.#moved = performance.now();
		this.draw();
	}

	#isUsed(row) {
		return row.field || row === this.dragged?.row || row.node.contains(document.activeElement);
	}

	#row(item, index) {
		let row = this.#rows.get(item.id);
		if (!row) {
			row = this.#parts.make();
			row.node.row = row;
			this.#rows.set(item.id, row);
			this.#observer.observe(row.node);
		}
		if (row.item !== item) {
			row.item = item;
			this.#parts.update(row);
		}
		row.index = index;
		row.node.ariaPosInSet = index + 1;
		row.node.ariaSetSize = this.items.length;
		return row;
	}

	/** Orders nodes without moving the focused one, which would lose the focus. */
	#order(nodes) {
		const { list } = this;
		const kept =
			nodes.find((node) => node.contains(document.activeElement)) ??
			nodes.find((node) => node.parentNode) ??
			nodes[0];
		if (!kept) return;
		if (!kept.parentNode) list.append(kept);
		const at = nodes.indexOf(kept);
		for (let i = at - 1; i >= 0; i--)
			if (nodes[i].nextSibling !== nodes[i + 1]) list.insertBefore(nodes[i], nodes[i + 1]);
		for (let i = at + 1; i < nodes.length; i++)
			if (nodes[i - 1].nextSibling !== nodes[i]) nodes[i - 1].after(nodes[i]);
	}

	#put(row, drag) {
		const { style } = row.node;
		const { index } = row;
		let by = 0;
		if (drag) {
			const { row: dragged, by: distance, to } = drag;
			const height = this.tops[dragged.index + 1] - this.tops[dragged.index];
			if (row === dragged) by = distance;
			else if (index > dragged.index && index <= to) by = -height;
			else if (index < dragged.index && index >= to) by = height;
		}
		row.top = this.tops[index];
		style.top = `${row.top}px`;
		style.transform = by ? `translateY(${by}px)` : "";
	}

	#place() {
		for (const row of this.#rows.values()) row.index = -1;
		this.tops = [0];
		let top = 0;
		const estimate = this.#lowest < Infinity ? this.#lowest : 40;
		this.items.forEach(({ id }, index) => {
			const row = this.#rows.get(id);
			if (row) row.index = index;
			this.tops.push((top += this.#heights.get(id) ?? estimate));
		});
	}

	/** Scrolls by the median distance that the visible rows have moved. */
	#anchor(before) {
		if (!this.#scrollTop) return;
		const bottom = this.#scrollTop + this.scroller.clientHeight;
		const moves = before
			.filter(({ row, top }) => row.index >= 0 && top >= this.#scrollTop && top < bottom)
			.map(({ row, top }) => this.tops[row.index] - top)
			.sort((a, b) => a - b);
		const move = moves[moves.length >> 1];
		if (!move) return;
		this.#scrollTop = Math.max(0, this.#scrollTop + move);
		this.#mustScroll = true;
	}

	/** Sets the scroll position, after all changes of the layout. */
	#scroll() {
		this.list.style.height = `${this.tops.at(-1)}px`;
		if (this.#mustScroll) this.scroller.scrollTop = this.#scrollTop;
		this.#mustScroll = false;
	}

	#positions() {
		return [...this.#rows.values()].map((row) => ({ row, top: row.top }));
	}

	#animate(before, scrolled) {
		const now = performance.now();
		// With frequent updates, rows would move all the time.
		if (now - this.#moved < moving || isMotionReduced()) return;
		for (const { row, top } of before) {
			const by = top - scrolled - (row.top - this.#scrollTop);
			if (!by || row.index < 0 || !row.node.isConnected) continue;
			this.#moved = now;
			attempt(() => row.node.animate([{ transform: `translateY(${by}px)` }, {}], moving));
		}
	}

	#measured(entries) {
		if (!this.isCurrent) return this.#observer.disconnect();
		let isOther = false;
		for (const { target, borderBoxSize, contentRect } of entries) {
			const { row } = target;
			if (!row) {
				// With another width, titles wrap differently.
				if (this.#width !== contentRect.width) {
					this.#heights.clear();
					this.#lowest = Infinity;
				}
				this.#width = contentRect.width;
				continue;
			}
			const height = borderBoxSize[0].blockSize;
			if (!height || this.#heights.get(row.item.id) === height) continue;
			this.#heights.set(row.item.id, height);
			this.#lowest = Math.min(this.#lowest, height);
			isOther = true;
		}
		if (!isOther) return;
		const before = this.#positions();
		this.#place();
		this.#anchor(before);
		for (const row of this.#rows.values()) this.#put(row, this.dragged);
		this.#scroll();
		this.#drawSoon();
	}

	#drawSoon() {
		this.#frame ??= requestAnimationFrame(() => this.draw());
	}
}

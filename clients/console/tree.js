// SPDX-License-Identifier: Apache-2.0
//
// A JSON value as a tree. Parts that have changed since the value before are marked for a while.

import { element } from "./dom.js";

/** The number of children that are shown at first, and with each further step. */
const STEP = 100;
const REDACTED = "(redacted)";

const isContainer = (value) => typeof value === "object" && value !== null;

/** The members of an object, or the elements of an array with their indices. */
const members = (value) => (Array.isArray(value) ? value.map((one, i) => [i, one]) : Object.entries(value));

/** Returns true if two JSON values are the same. */
export function isSame(one, other) {
	if (one === other) return true;
	if (!isContainer(one) || !isContainer(other) || Array.isArray(one) !== Array.isArray(other)) return false;
	const keys = Object.keys(one);
	return keys.length === Object.keys(other).length && keys.every((key) => key in other && isSame(one[key], other[key]));
}

function size(value) {
	const count = Array.isArray(value) ? value.length : Object.keys(value).length;
	return Array.isArray(value) ? `[${count}]` : `{${count}}`;
}

/** Marks an element as changed for a while. */
function mark(node) {
	node.classList.remove("changed");
	void node.offsetWidth; // Starts the animation again.
	node.classList.add("changed");
	clearTimeout(node.timer);
	node.timer = setTimeout(() => node.classList.remove("changed"), 2500);
}

/** Small containers are open at first, down to this depth. */
const isOpenAtFirst = (value, depth) => depth === 0 || (depth < 4 && members(value).length <= 20);

/** One value with its key. The children of a closed container are made when it is opened. */
class Part {
	constructor(key, value, depth = 0) {
		this.key = key;
		this.value = value;
		this.depth = depth;
		this.isRoot = depth === 0;
		this.shown = STEP;
		if (isContainer(value)) this.makeContainer(isOpenAtFirst(value, depth));
		else this.makeLeaf();
	}

	makeLeaf() {
		this.text = element("span");
		this.node = this.line = element("div", { className: "leaf" }, ...this.label(), this.text);
		this.showLeaf();
	}

	label() {
		return this.isRoot ? [] : [element("span", { className: "key", textContent: `${this.key}` }), ": "];
	}

	showLeaf() {
		const { value } = this;
		this.text.textContent = value === REDACTED ? "redacted" : JSON.stringify(value);
		this.text.className = value === REDACTED ? "redacted" : typeof value === "string" ? "string" : "other";
	}

	makeContainer(isOpen) {
		this.text = element("span", { className: "size", textContent: size(this.value) });
		this.line = element("summary", {}, ...this.label(), this.text);
		this.inner = element("div");
		this.node = element("details", {}, this.line, this.inner);
		this.node.open = isOpen;
		this.node.ontoggle = () => this.node.open && this.showChildren();
		if (isOpen) this.showChildren();
	}

	showChildren(marks = false) {
		this.parts ??= new Map();
		const all = members(this.value);
		const seen = new Set();
		let previous = null;
		for (const [key, value] of all.slice(0, this.shown)) {
			seen.add(`${key}`);
			let part = this.parts.get(`${key}`);
			if (part && isContainer(part.value) === isContainer(value)) part.update(value, marks);
			else {
				part?.node.remove();
				part = new Part(key, value, this.depth + 1);
				this.parts.set(`${key}`, part);
				if (marks) mark(part.line);
			}
			const place = previous ? previous.nextSibling : this.inner.firstChild;
			if (part.node !== place) this.inner.insertBefore(part.node, place);
			previous = part.node;
		}
		for (const [key, part] of this.parts) {
			if (seen.has(key)) continue;
			part.node.remove();
			this.parts.delete(key);
		}
		this.showMore(all.length - this.shown);
	}

	showMore(rest) {
		this.more?.remove();
		if (rest <= 0) return;
		this.more = element("button", { className: "quiet", textContent: `Show ${Math.min(rest, STEP)} of ${rest} more` });
		this.more.onclick = () => {
			this.shown += STEP;
			this.showChildren();
		};
		this.inner.append(this.more);
	}

	/** Shows another value of the same sort: a container or not. */
	update(value, marks) {
		if (isSame(this.value, value)) return;
		this.value = value;
		if (!isContainer(value)) {
			this.showLeaf();
			if (marks) mark(this.line);
			return;
		}
		const text = size(value);
		const hasOtherSize = this.text.textContent !== text;
		this.text.textContent = text;
		if (this.node.open) this.showChildren(marks);
		else this.parts = this.inner.replaceChildren();
		if (marks && (hasOtherSize || !this.node.open)) mark(this.line);
	}
}

/** Shows values in an element. */
export class Tree {
	constructor(root) {
		this.root = root;
	}

	/** Shows a value. With `marks`, parts that differ from the value before are marked. */
	show(value, marks) {
		if (this.part && isContainer(this.part.value) === isContainer(value)) return this.part.update(value, marks);
		this.part = new Part(undefined, value);
		this.root.replaceChildren(this.part.node);
	}

	clear() {
		this.part = undefined;
		this.root.replaceChildren();
	}
}

// SPDX-License-Identifier: Apache-2.0
//
// One store of a kind, which turns requests into updates. Each method returns a result of the protocol as JSON text, or
// throws and changes nothing.

import { difference } from "./difference.js";
import { Effect } from "./effects.js";
import { frozen } from "./frozen.js";

// A patch that is this much longer than the state is replaced by it. Short states are patched, so that clients see what
// has changed.
const SLACK = 256;

const SERVER = { identity: null, frontend: null, role: null };

/** Returns the result of `machine/describe`. */
export function description({ version = 1, schemas = {}, viewsBy, viewers }) {
	return { protocol: 1, version, schemas, viewsBy, watchesViewers: Boolean(viewsBy || viewers) };
}

export class Machine {
	/** The state after the last request. */
	state;
	#kind;
	#circumstances;
	// What the server has, with its approximate length as JSON: `state`, `view`, and `view KEY` for single viewers.
	#sent = new Map();
	#viewers = [];

	constructor(kind, name, configuration) {
		this.#kind = kind;
		this.#circumstances = { name, configuration, viewer: SERVER, isAction: false, error: null };
	}

	/** The part of the state that clients receive that have no view of their own. */
	get view() {
		return this.#sent.has("view") ? this.#sent.get("view").value : this.state;
	}

	#seen(state, viewer) {
		return this.#kind.view?.(state, viewer, this.#circumstances.configuration);
	}

	open(viewer, now) {
		const { initial } = this.#kind;
		const context = { ...this.#circumstances, viewer, now };
		return this.#step(typeof initial === "function" ? initial(context.configuration, context) : initial);
	}

	restore(version, state, now) {
		const { migrate, version: current = 1 } = this.#kind;
		if (version > current || (version < current && !migrate))
			throw new Error(`a state of version ${version} cannot be used by version ${current}`);
		if (version < current) return this.#step(migrate(version, state));
		this.#sent.set("state", { value: frozen(state), length: JSON.stringify(state).length });
		return this.#step(state);
	}

	input(input, viewer, now) {
		return this.#update(input, { ...this.#circumstances, viewer, now });
	}

	action(action, error, now) {
		return this.#update(action, { ...this.#circumstances, isAction: true, error: error ?? null, now });
	}

	viewers(viewers, now) {
		const before = this.#viewers;
		this.#viewers = viewers;
		try {
			return this.#step(this.#kind.viewers?.(this.state, viewers, { ...this.#circumstances, now }));
		} catch (error) {
			this.#viewers = before;
			throw error;
		}
	}

	#update(event, context) {
		return this.#step(this.#kind.update(this.state, event, context));
	}

	#step(result) {
		const [next, effects = []] = Array.isArray(result) ? result : [result];
		// An update that returns nothing leaves the state unchanged.
		const state = next === undefined ? this.state : next;
		const update = {};
		const sent = new Map(this.#sent);
		change(update, sent, "state", "state", state);
		const seen = this.#seen(state, SERVER);
		if (seen !== undefined) {
			const { viewsBy } = this.#kind;
			change(update, sent, "view", "view", seen);
			const keys = new Set(viewsBy ? this.#viewers.map((viewer) => viewer[viewsBy]).filter((key) => key !== null) : []);
			const views = {};
			for (const name of sent.keys()) {
				if (!name.startsWith("view ") || keys.has(name.slice(5))) continue;
				sent.delete(name);
				views[name.slice(5)] = null;
			}
			for (const key of keys) {
				const entry = {};
				change(entry, sent, `view ${key}`, "view", this.#seen(state, { ...SERVER, [viewsBy]: key }));
				if (Object.keys(entry).length > 0) views[key] = entry;
			}
			if (Object.keys(views).length > 0) update.views = views;
		}
		for (const effect of [effects].flat()) {
			if (!(effect instanceof Effect)) throw new TypeError("an effect is made by a function such as `after`");
			const { type, members } = effect;
			if (type === "event") (update.events ??= []).push(frozen(members));
			else if (type === "redacted") update.redacted = true;
			else (update.effects ??= []).push(frozen({ type, ...members }));
		}
		const text = JSON.stringify(update);
		this.state = state;
		this.#sent = sent;
		return text;
	}
}

/** Adds the change of a value to an update: as a patch, or the value if that is shorter. */
function change(update, sent, key, name, value) {
	if (!sent.has(key)) {
		update[name] = frozen(value);
		sent.set(key, { value, length: JSON.stringify(value).length });
		return;
	}
	let { value: old, length } = sent.get(key);
	const patch = difference(old, value);
	const patchLength = patch.length > 0 ? JSON.stringify(patch).length : 0;
	// The value is measured only after a large change, so that the cost follows the change.
	if (patchLength > length / 2) length = JSON.stringify(value).length;
	if (patchLength > length + SLACK || patch[0]?.path === "") update[name] = value;
	else if (patch.length > 0) update[name === "state" ? "patch" : "viewPatch"] = patch;
	sent.set(key, { value, length });
}

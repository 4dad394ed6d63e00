// SPDX-License-Identifier: Apache-2.0
//
// One store of a kind, which turns the requests of the protocol into updates.

import { difference } from "./difference.js";
import { Effect } from "./effects.js";
import { frozen } from "./frozen.js";

// A patch that is this much longer than the state is replaced by it. Short states are patched, so that clients see what
// has changed.
const SLACK = 256;

const SERVER = { identity: null, frontend: null, role: null };

/** Returns the result of `machine/describe`. */
export function description({ version = 1, schemas = {}, view, viewsBy, viewers }) {
	return { protocol: 1, version, schemas, viewsBy, watchesViewers: Boolean(viewsBy || viewers), showsState: !view };
}

export class Machine {
	/** The state after the last request. */
	state;
	#kind;
	#opening;
	#viewers = [];
	// What the server has, with its approximate length as JSON: `state`, `view`, and `view KEY` for single viewers.
	#sent = new Map();

	constructor(kind, { name, configuration }) {
		this.#kind = kind;
		this.#opening = { name, configuration: frozen(configuration) };
	}

	/** The part of the state that clients receive that have no view of their own. */
	get view() {
		return this.#sent.has("view") ? this.#sent.get("view").value : this.state;
	}

	/**
	 * Responds to `machine/METHOD` with an update as JSON text. If it throws, nothing has changed, except that the viewers
	 * are known. It applies immediate actions too, at most `maximumActions`. Actions from the first one with an id on are
	 * effects of the update.
	 */
	turn(method, params, maximumActions = 0) {
		let [state, effects] = stateAndEffects(this.#result(method, params), this.state);
		for (let count = 0; count < maximumActions; count++) {
			const index = effects.findIndex(({ type }) => type === "action");
			// An action with an id can be cancelled, so the server sends it, and all after it.
			if (index < 0 || effects[index].members.id !== undefined) break;
			const [{ members }] = effects.splice(index, 1);
			const context = { ...this.#opening, now: params.now, viewer: SERVER, isAction: true, error: null };
			const action = JSON.parse(JSON.stringify(members.action));
			const [next, more] = stateAndEffects(this.#kind.update(state, action, context), state);
			[state, effects] = [next, [...effects, ...more]];
		}
		return this.#step(state, effects);
	}

	/** Returns a function that undoes what changes from now on, except the viewers. */
	checkpoint() {
		const before = [this.state, this.#sent];
		return () => {
			[this.state, this.#sent] = before;
		};
	}

	/** Returns what the function of the author returns for a request. */
	#result(method, { now, viewer, error = null, ...params }) {
		const { initial, update, viewers, migrate, version = 1 } = this.#kind;
		const isAction = method === "action";
		const context = { ...this.#opening, now, viewer: { ...SERVER, ...viewer }, isAction, error };
		switch (method) {
			case "open":
				return typeof initial === "function" ? initial(context.configuration, context) : initial;
			case "restore":
				// The server can have a view of the earlier process, which another one replaces.
				this.#sent = new Map(this.#kind.view ? [["view", undefined]] : []);
				if (params.version > version || (params.version < version && !migrate))
					throw new Error(`a state of version ${params.version} cannot be used by version ${version}`);
				if (params.version < version) return [migrate(params.version, params.state)];
				this.#sent.set("state", changed(undefined, params.state).sent);
				return [params.state];
			case "input":
			case "action":
				return update(this.state, params[method], context);
			case "viewers":
				this.#viewers = params.viewers.map((viewer) => ({ ...SERVER, ...viewer }));
				return viewers?.(this.state, this.#viewers, context);
			default:
				throw Object.assign(new Error(`unknown method machine/${method}`), { code: -32601 });
		}
	}

	/** Returns the update to a state; then the server has it. */
	#step(state, effects) {
		// Keys come from clients: `__proto__` is one of them.
		const [update, views, sent] = [{}, Object.create(null), new Map()];
		for (const [key, value] of this.#parts(state)) {
			const [name, patchName] = key === "state" ? ["state", "patch"] : ["view", "viewPatch"];
			const change = changed(this.#sent.get(key), value);
			sent.set(key, change.sent);
			if (change.patch?.length === 0) continue;
			const target = key.startsWith("view ") ? (views[key.slice(5)] = {}) : update;
			target[change.patch ? patchName : name] = change.patch ?? value;
		}
		for (const key of this.#sent.keys()) if (key.startsWith("view ") && !sent.has(key)) views[key.slice(5)] = null;
		if (Object.keys(views).length > 0) update.views = views;
		for (const { type, members } of effects) {
			if (type === "event") (update.events ??= []).push(members);
			else if (type === "redacted") update.redacted = true;
			else (update.effects ??= []).push({ type, ...members });
		}
		// The server accepts no more.
		for (const name of ["effects", "events"])
			if (update[name]?.length > 1000) throw new TypeError(`an update has at most 1000 ${name}`);
		const text = JSON.stringify(update);
		[this.state, this.#sent] = [state, sent];
		return text;
	}

	/** Returns the state, the view of everyone as `view`, and those of single viewers as `view KEY`. */
	#parts(state) {
		const { viewsBy } = this.#kind;
		const views = new Map([["view", this.#seen(state)]]);
		for (const { [viewsBy]: key = null } of this.#viewers)
			if (key !== null) views.set(`view ${key}`, this.#seen(state, { [viewsBy]: key }));
		// There are no views before the first that is not the state.
		const hasViews = this.#sent.has("view") || [...views.values()].some((view) => view !== state);
		return new Map([["state", state], ...(hasViews ? views : [])]);
	}

	/** Returns what a viewer receives of the state. */
	viewFor(viewer) {
		const { viewsBy } = this.#kind;
		return this.#seen(this.state, viewsBy && { [viewsBy]: viewer[viewsBy] ?? null });
	}

	#seen(state, viewer) {
		const view = this.#kind.view?.(state, { ...SERVER, ...viewer }, this.#opening.configuration);
		return view === undefined ? state : view;
	}
}

/**
 * Returns the state and the effects of what a function of the author returns; nothing stands for the state before. They
 * are frozen, also before `view` gets the state.
 */
function stateAndEffects(result, before) {
	const [state = before, effects = []] = Array.isArray(result) ? result : [result];
	if (state === undefined) throw new TypeError("`initial` or `migrate` has returned no state");
	const all = [effects].flat();
	if (!all.every((effect) => effect instanceof Effect))
		throw new TypeError("an effect is made by a function such as `after`");
	for (const { members } of all) frozen(members);
	return [frozen(state), all];
}

/** Returns what the server has after a change, and the patch; without a patch if the whole value is to be sent. */
function changed(sent, value) {
	frozen(value);
	if (!sent) return { sent: { value, length: JSON.stringify(value).length } };
	let { length } = sent;
	const patch = difference(sent.value, value);
	const patchLength = patch.length > 0 ? JSON.stringify(patch).length : 0;
	// The value is measured only after a large change, so that the cost follows the change.
	if (patchLength > length / 2) length = JSON.stringify(value).length;
	const isWhole = patchLength > length + SLACK || patch[0]?.path === "";
	return { sent: { value, length }, patch: isWhole ? undefined : patch };
}

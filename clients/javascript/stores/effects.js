// SPDX-License-Identifier: Apache-2.0
//
// Effects and events, which an update returns as data and the server carries out, and refusals.

/** An effect, an event or a redaction: its type and its members in the form of the protocol. */
export class Effect {
	constructor(type, members) {
		Object.assign(this, { type, members });
	}
}

/** Refuses an input or a configuration. `path` leads into it, `limit` is the name of a limit that it exceeds. */
export class Refusal extends Error {
	name = "Refusal";

	constructor(message, path = [], limit = undefined) {
		super(message);
		Object.assign(this, { path, limit });
	}
}

export const action = (action, { name, id, failed, latest } = {}) =>
	new Effect("action", { action, name, id, failed, latest });
export const after = (milliseconds, action, id) => new Effect("after", { milliseconds, action, id });
export const every = (milliseconds, action, id) => new Effect("every", { milliseconds, action, id });
export const cancel = (id) => new Effect("cancel", { id });
export const run = (name, args, policies = {}) => new Effect("run", { name, arguments: args, ...policies });
export const event = (event, to) => new Effect("event", { event, to });
export const redacted = () => new Effect("redacted", {});

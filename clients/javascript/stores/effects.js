// SPDX-License-Identifier: Apache-2.0
//
// Effects and events, which an update returns as data and the server carries out, and refusals.

// The longest time that the server accepts: 1,000 days.
const MAXIMUM_MILLISECONDS = 86_400_000_000;

const isString = (value) => typeof value === "string";
const isInteger = (value, least, most) => Number.isInteger(value) && value >= least && value <= most;
const isTime = (value) => isInteger(value, 0, MAXIMUM_MILLISECONDS);
const isRetry = ({ attempts, milliseconds }) => isInteger(attempts, 1, 1000) && isTime(milliseconds);

// The rules for the members, as in docs/reference/store-protocol.md: the server ends a program that breaks one.
const RULES = [
	[["action", "arguments", "event", "failed"], () => true],
	[["id", "name", "serial"], isString, "a string"],
	[["milliseconds", "debounce", "throttle", "timeout"], isTime, `an integer from 0 to ${MAXIMUM_MILLISECONDS}`],
	[["latest"], (value) => typeof value === "boolean", "true or false"],
	[["restart"], (value) => value === "fail" || value === "again", '"fail" or "again"'],
	[["to"], (value) => Array.isArray(value) && value.every(isString), "an array of strings"],
	[["retry"], isRetry, "attempts from 1 to 1000 and milliseconds"],
];

/**
 * An effect, an event or a redaction: its type and its members in the form of the protocol, without those that are null.
 * Throws a `TypeError` if the server would not accept it.
 */
export class Effect {
	constructor(type, needed, optional = {}) {
		const must = (isMet, rule) => {
			if (!isMet) throw new TypeError(`${type}: ${rule}`);
		};
		const members = {};
		for (const [name, value] of Object.entries({ ...optional, ...needed })) {
			const isGiven = value !== undefined && value !== null;
			must(isGiven || !Object.hasOwn(needed, name), `${name} must not be null`);
			const [, fits, form] = RULES.find(([names]) => names.includes(name)) ?? [];
			must(fits, `${name} is unknown`);
			must(!isGiven || fits(value), `${name} must be ${form}`);
			if (isGiven) members[name] = value;
		}
		const { id, latest, debounce, throttle } = members;
		must(type !== "every" || members.milliseconds > 0, "milliseconds must be at least 1");
		must(id !== undefined || !(latest || debounce >= 0 || throttle >= 0), "latest, debounce and throttle need an id");
		must(debounce === undefined || throttle === undefined, "debounce and throttle exclude each other");
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
	new Effect("action", { action }, { name, id, failed, latest });
export const after = (milliseconds, action, id) => new Effect("after", { milliseconds, action }, { id });
export const every = (milliseconds, action, id) => new Effect("every", { milliseconds, action, id });
export const cancel = (id) => new Effect("cancel", { id });
export const run = (name, args, policies = {}) => new Effect("run", { name }, { arguments: args, ...policies });
export const event = (event, to) => new Effect("event", { event }, { to });
export const redacted = () => new Effect("redacted", {});

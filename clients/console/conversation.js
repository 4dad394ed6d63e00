// SPDX-License-Identifier: Apache-2.0
//
// Makes a conversation, as `statewire play` reads it, from the recorded events of a session: opens the
// stores, sends the inputs of clients, and expects the state after each of them.

const UUID = /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i;
// A date or a time anywhere in a text. `statewire record` has the same rules: Protocol/Conversations/README.md.
const TIME = /\d{4}-\d\d-\d\d|\d:\d\d/;
const REDACTED = "(redacted)";

const isContainer = (value) => typeof value === "object" && value !== null;

/** Returns true if a value, or a part of it, satisfies a test. */
const contains = (value, test) => (isContainer(value) ? Object.values(value).some((one) => contains(one, test)) : test(value));

/** The names of values that differ in each run. */
class Names {
	constructor() {
		/** The strings that clients have sent: they are the same in each run. */
		this.sent = new Set();
		this.known = new Map();
	}

	/** Text that looks like a placeholder is written with a second `<`. */
	static escaped = (text) => text.replace(/<(?=[\w:]*>|<)/g, "<<");

	/** An input as it is sent. */
	sending(value) {
		return this.map(value, (text) => {
			if (this.known.has(text)) return this.known.get(text);
			this.sent.add(text);
			return Names.escaped(text);
		});
	}

	/** A value as it is expected. */
	expecting(value) {
		return this.map(value, (text) => {
			if (this.known.has(text)) return this.known.get(text);
			if (text === REDACTED) return "<_>";
			if (this.sent.has(text)) return Names.escaped(text);
			if (TIME.test(text)) return "<_:string>";
			if (!UUID.test(text)) return Names.escaped(text);
			this.known.set(text, `<id${this.known.size + 1}>`);
			return this.known.get(text);
		});
	}

	map(value, change) {
		if (typeof value === "string") return change(value);
		if (Array.isArray(value)) return value.map((one) => this.map(one, change));
		if (!isContainer(value)) return value;
		return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, this.map(one, change)]));
	}
}

/**
 * Returns the text of a conversation.
 *
 * `events` are all events of the session since the console opened the session; `stateAt` returns the state of a store
 * at a revision, and throws if it is not recorded. Returns nothing if no store can be played.
 */
export async function conversation(events, stateAt) {
	const lines = ["# Recorded by the console. Each input is sent after the effects of the one before have ended."];
	const names = new Names();
	/** The stores that can be played, by name: the inputs that have not ended. */
	const played = new Map();
	/** The stores that the conversation mentions. */
	const mentioned = new Set();
	/** The inputs that an effect has refused after they had begun, by store and number. */
	const refused = new Set(events.filter((one) => one.stage === "input" && one.failed).map((one) => `${one.number} ${one.store}`));
	let id = 0;
	const request = (method, params) => lines.push(`--> ${JSON.stringify({ jsonrpc: "2.0", id: ++id, method, params })}`);
	const respond = (rest) => lines.push(`<-- ${JSON.stringify({ jsonrpc: "2.0", id, ...rest })}`);
	const leave = (store, reason) => {
		if (played.delete(store)) lines.push("", `# The store ${JSON.stringify(store)} is left out from here on: ${reason}.`);
	};
	for (const event of events) {
		const { type, store } = event;
		if (type === "gap") for (const one of [...played.keys()]) leave(one, "events were dropped");
		if (type === "opened" && (event.revision === 0 || played.has(store))) played.set(store, new Set());
		const isKnown = mentioned.has(store);
		mentioned.add(store);
		if (!played.has(store)) {
			if (store && !isKnown) lines.push("", `# The store ${JSON.stringify(store)} is left out: it was opened before the recording began.`);
			continue;
		}
		if (type === "opened") {
			lines.push("");
			request("store/open", { store, kind: event.kind, config: event.config ?? {} });
			respond({ result: "<_>" });
		}
		const open = played.get(store);
		if (type === "closed") {
			lines.push("");
			request("store/close", { store });
			respond({ result: "<_>" });
			open.clear();
		}
		if ((type === "input" || type === "refused") && event.input !== undefined) {
			if (contains(event.input, (one) => one === REDACTED)) {
				leave(store, "an input has a secret");
				continue;
			}
			lines.push("");
			request("store/send", { store, input: names.sending(event.input), ...(type === "input" && { settle: true }) });
			const isTaken = type === "input" && !refused.has(`${event.number} ${store}`);
			respond(isTaken ? { result: "<_>" } : { error: "<_>" });
			if (type === "input") open.add(event.number);
		}
		if ((type === "end" || type === "cancel") && event.stage === "input" && open.delete(event.number) && !open.size) {
			let state;
			try {
				state = await stateAt(store, event.revision);
			} catch {
				lines.push(`# The state at revision ${event.revision} is not recorded.`);
				continue;
			}
			request("store/state", { store });
			respond({ result: { state: names.expecting(state), "...": "..." } });
		}
	}
	return id ? `${lines.join("\n")}\n` : undefined;
}

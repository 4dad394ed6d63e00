// SPDX-License-Identifier: Apache-2.0
//
// Makes a conversation, as `statewire play` reads it, from the recorded events of a session: opens the
// stores, sends the inputs of clients, and expects the state after each of them.

// UUIDs anywhere in a text, with or without dashes.
const UUIDS = /(?<![0-9a-f])[0-9a-f]{8}(-?)[0-9a-f]{4}\1[0-9a-f]{4}\1[0-9a-f]{4}\1[0-9a-f]{12}(?![0-9a-f])/gi;
// A date or a time anywhere in a text. `statewire record` has the same rules: Protocol/Conversations/README.md.
const TIME = /\d{4}-\d\d-\d\d|\d:\d\d/;
const REDACTED = "(redacted)";

const isContainer = (value) => typeof value === "object" && value !== null;

/** Returns true if a value, or a part of it, is redacted. */
const isSecret = (value) => (isContainer(value) ? Object.values(value).some(isSecret) : value === REDACTED);

/** The ids in a text. */
const ids = (text) => Array.from(text.matchAll(UUIDS), ([id]) => id);

/**
 * Text that looks like a placeholder is written with each `<` before it doubled. Only the first `<` of several begins a
 * match: clients choose the text, and each would be compared with all after it.
 */
const escaped = (text) => text.replace(/(?<!<)(<+)(?=[A-Za-z_][\w-]*(:[A-Za-z]*)?>)/g, "$1$1");

/** Returns a value with each text and each list of members changed. */
function mapped(value, change, members = (all) => all) {
	if (typeof value === "string") return change(value);
	if (Array.isArray(value)) return value.map((one) => mapped(one, change, members));
	if (!isContainer(value)) return value;
	return Object.fromEntries(members(Object.entries(value)).map(([key, one]) => [key, mapped(one, change, members)]));
}

/** The names of values that differ in each run. */
class Names {
	/** The strings that clients have sent: they are the same in each run. */
	sent = new Set();
	/** The placeholders of ids that the server has made. */
	known = new Map();

	/** A value as it is sent. */
	sending(value) {
		return mapped(value, (text) => {
			if (!this.known.has(text)) this.sent.add(text);
			return this.written(text, this.known);
		});
	}

	/** A value as it is expected. */
	expecting(value) {
		// A name is part of longer strings in later messages only.
		const earlier = new Map(this.known);
		const isFixed = (id) => earlier.has(id) || this.sent.has(id);
		const change = (text) => {
			if (text === REDACTED) return "<_>";
			if (this.sent.has(text)) return this.written(text, earlier);
			if (ids(text)[0] === text) {
				if (!this.known.has(text)) this.known.set(text, `<id${this.known.size + 1}>`);
				return this.known.get(text);
			}
			return TIME.test(text) || !ids(text).every(isFixed) ? "<_:string>" : this.written(text, earlier);
		};
		return mapped(value, change, (all) => {
			// A member "...": "..." would mean that there may be further members.
			const kept = all
				.filter(([key]) => this.isSame(key))
				.map(([key, one]) => [key, key === "..." && one === "..." ? REDACTED : one]);
			return kept.length < all.length ? [...kept, ["...", "..."]] : kept;
		});
	}

	/** Returns true if a key is the same in each run. A key cannot be a placeholder. */
	isSame(key) {
		return ids(key).every((id) => this.sent.has(id)) && (this.sent.has(key) || !TIME.test(key));
	}

	/** A text with the placeholders of the ids in it. */
	written(text, known) {
		let written = "";
		let end = 0;
		for (const { 0: id, index } of text.matchAll(UUIDS)) {
			if (!known.has(id)) continue;
			written += escaped(text.slice(end, index)).replace(/(?<!<)<+$/, "$&$&") + known.get(id);
			end = index + id.length;
		}
		return written + escaped(text.slice(end));
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
	/** The stores that are open in the conversation. */
	const opened = new Set();
	/** The stores that the conversation mentions. */
	const mentioned = new Set();
	/** The inputs that an effect has refused after they had begun, by store and number. */
	const refused = new Set(events.filter((one) => one.stage === "input" && one.failed).map((one) => `${one.number} ${one.store}`));
	let id = 0;
	const request = (method, params) => lines.push(`--> ${JSON.stringify({ jsonrpc: "2.0", id: ++id, method, params: names.sending(params) })}`);
	const respond = (rest) => lines.push(`<-- ${JSON.stringify({ jsonrpc: "2.0", id, ...rest })}`);
	const close = (store) => {
		request("store/close", { store });
		respond({ result: "<_>" });
		opened.delete(store);
	};
	const leave = (store, reason) => {
		if (!played.delete(store)) return;
		lines.push("", `# The store ${JSON.stringify(store)} is left out from here on: ${reason}.`);
		// Later events can open it again, with another configuration.
		if (opened.has(store)) close(store);
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
			if (isSecret(event.config)) {
				leave(store, "its configuration has a secret");
				continue;
			}
			lines.push("");
			request("store/open", { store, kind: event.kind, config: event.config ?? {} });
			respond({ result: "<_>" });
			opened.add(store);
		}
		const open = played.get(store);
		if (type === "closed") {
			lines.push("");
			close(store);
			open.clear();
		}
		if ((type === "input" || type === "refused") && event.input !== undefined) {
			if (isSecret(event.input)) {
				leave(store, "an input has a secret");
				continue;
			}
			lines.push("");
			request("store/send", { store, input: event.input, ...(type === "input" && { settle: true }) });
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

// SPDX-License-Identifier: Apache-2.0
//
// The actions of an operator: sends inputs, closes stores, evicts participants, ends sessions, and drains
// the server.

import { get, post } from "./api.js";
import { $, element, write } from "./dom.js";
import { cases, field } from "./schemaform.js";

let schemas;

/** The schemas of the store kinds; requested once. */
const document_ = () => (schemas ??= get("schema").catch((error) => ((schemas = undefined), Promise.reject(error))));

/** Asks before `work`, and shows its outcome in `note`. */
export async function confirmed(question, note, work) {
	if (question && !confirm(question)) return;
	try {
		await work();
		write(note, "Done.");
	} catch (error) {
		if (error.status === undefined) throw error;
		write(note, error.message);
	}
}

/** The form that sends an input to the chosen store. */
export function sender() {
	let id;
	let store;
	let kind;
	/** Returns the input that the form describes. */
	let read = () => ({});

	function showFields(document, chosen) {
		const readers = [];
		const nodes = [];
		if (chosen) {
			const [name, schema] = chosen;
			for (const [key, one] of Object.entries(schema.properties)) {
				if (key === "type") continue;
				const [node, value] = field(key, one, schema.required?.includes(key) ?? false, document);
				nodes.push(node);
				readers.push([key, value]);
			}
			read = () => {
				const members = readers.map(([key, value]) => [key, value()]).filter(([, value]) => value !== undefined);
				return { type: name, ...Object.fromEntries(members) };
			};
		} else {
			const [node, value] = field("input", {}, true, document);
			nodes.push(node);
			read = value;
		}
		$("#fields").replaceChildren(...nodes);
	}

	async function showKind() {
		const asked = kind;
		const document = await document_();
		if (asked !== kind) return;
		const all = cases(document.stores[kind]?.input, document);
		const choice = $("#input-type");
		choice.replaceChildren(...all.map(([name]) => element("option", { textContent: name })));
		$("#input-type-field").hidden = !all.length;
		choice.onchange = () => showFields(document, all[choice.selectedIndex]);
		showFields(document, all[0]);
	}

	$("#send").onsubmit = (event) => {
		event.preventDefault();
		let input;
		try {
			input = read();
		} catch (error) {
			return write($("#send-note"), error.message);
		}
		return confirmed("", $("#send-note"), () => post(`send?session=${encodeURIComponent(id)}`, { store, input }));
	};
	$("#close-store").onclick = () =>
		confirmed(`Close the store ${store} for all clients of the session?`, $("#send-note"), () =>
			post(`close?session=${encodeURIComponent(id)}`, { store }),
		);
	$("#fault").onsubmit = (event) => {
		event.preventDefault();
		const fault = {
			store,
			operation: $("#operation").value,
			fault: $("#fault-type").value,
			seconds: $("#fault-seconds").valueAsNumber || 0,
			times: $("#times").valueAsNumber || 1,
		};
		confirmed("", $("#fault-note"), () => post(`fault?session=${encodeURIComponent(id)}`, fault));
	};
	return {
		async choose(newID, newStore, newKind) {
			const isOther = newID !== id || newStore !== store || newKind !== kind;
			[id, store, kind] = [newID, newStore, newKind];
			if (!isOther) return;
			write($("#send-note"), "");
			await showKind().catch((error) => write($("#send-note"), error.message));
		},
	};
}

/** Makes the button that evicts a participant. */
export function evictButton(session, { client, name }) {
	const title = name ?? "unnamed";
	const button = element("button", { className: "quiet", textContent: "Evict", ariaLabel: `Evict ${title}` });
	button.onclick = () =>
		confirmed(`Evict ${title}? Its client is disconnected from the session.`, $("#session-note"), () =>
			post(`evict?session=${encodeURIComponent(session)}`, { client }),
		);
	return button;
}

/** Sets up the buttons of the session and of the server. */
export function buttons(session) {
	$("#end").onclick = () =>
		confirmed(document.body.matches(".copy") ? "" : "End this session for all its clients? Its stores are closed.", $("#session-note"), () =>
			post(`end?session=${encodeURIComponent(session())}`, {}),
		);
	$("#clock").onsubmit = (event) => {
		event.preventDefault();
		confirmed("", $("#session-note"), () =>
			post(`advance?session=${encodeURIComponent(session())}`, { seconds: $("#advance").valueAsNumber }),
		);
	};
	$("#drain").onclick = () =>
		confirmed("Drain this server? It finishes open requests, disconnects its clients and ends.", $("#server-note"), () =>
			post("drain", {}),
		);
}

// SPDX-License-Identifier: Apache-2.0

import { $, element, notice, unlessClosed, write } from "./dom.js";

/** The last text of each field that was sent and is not accepted yet. It stays in the field. */
let sent = {};

export function form(client, isAnotherSession) {
	const fields = { firstEntry: $("#first"), secondEntry: $("#second") };
	const names = Object.keys(fields);
	const store = client.store("form");
	if (isAnotherSession) sent = {};
	let said;

	const refused = () => names.find((name) => sent[name]?.reason);

	function show(state = store.state) {
		for (const name of names) {
			const field = fields[name];
			field.ariaInvalid = sent[name]?.reason ? "true" : null;
			// Writing a value moves the caret to its end.
			if (state && !sent[name] && field.value !== state[name]) field.value = state[name];
		}
		if (refused()) write($("#submitted"), "Not saved: ", sent[refused()].reason);
		if (!state) return;
		const { validationMessages: messages, submitAllowed } = state;
		if (said !== `${messages}`)
			$("#messages").replaceChildren(
				...messages.map((textContent) => element("li", { textContent })),
			);
		said = `${messages}`;
		// Not disabled: the person may submit before the response; the server keeps the order.
		$("#submit").ariaDisabled = !submitAllowed || Boolean(refused());
		if (!submitAllowed && !refused()) write($("#submitted"), "");
	}

	async function send(input, changed) {
		const text = {};
		for (const name of changed) sent[name] = text;
		write($("#submitted"), "");
		try {
			await store.send(input, { settle: true });
			for (const name of changed) if (sent[name] === text) delete sent[name];
		} catch (error) {
			// If the client was closed, its replacement sends the text again.
			unlessClosed(client, (reason) => (text.reason = reason))(error);
		}
		show();
	}

	/** Sends the entries again after a restart of the server: it does not persist them. */
	function restore(before = {}) {
		const entries = {};
		for (const name of names)
			entries[name] = sent[name] ? fields[name].value : (before[name] ?? fields[name].value);
		const hasAny = Object.values(entries).some(Boolean);
		if (hasAny) send({ type: "entriesChanged", ...entries }, names);
	}

	for (const [name, field] of Object.entries(fields)) {
		field.oninput = ({ target: { value } }) => send({ type: `${name}Changed`, value }, [name]);
		field.onpaste = ({ clipboardData }) => {
			if (/[\r\n]/.test(clipboardData?.getData("text").trim() ?? ""))
				notice("Line breaks were removed from the pasted text.");
		};
	}
	$("#entries").onsubmit = (event) => {
		event.preventDefault();
		// The server does not have the text of the field.
		if (refused()) return fields[refused()].focus();
		const report = (reason) => write($("#submitted"), "Not saved: ", reason);
		store.send({ type: "submitTapped" }).catch(unlessClosed(client, report));
	};
	$("#show").onchange = ({ target }) => {
		for (const field of Object.values(fields)) field.type = target.checked ? "text" : "password";
	};
	store.subscribe(show);
	store.onEvent(() => write($("#submitted"), "Saved."));
	client.on("resynced", ({ store, reason, before }) => {
		if (store === "form" && reason === "reopened") restore(before);
	});
	client.on("session", ({ lost }) => lost && restore());
	if (names.some((name) => sent[name])) restore();
	return () => names.some((name) => sent[name]);
}

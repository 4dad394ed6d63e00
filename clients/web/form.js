// SPDX-License-Identifier: Apache-2.0

import { $, element, notice, unlessClosed, write } from "./dom.js";

/** Of each field: the text that was sent last, until it is accepted. It stays in the field. */
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
		if (refused()) write($("#submitted"), "Not accepted: ", sent[refused()].reason);
		if (!state) return;
		const { validationMessages: messages, submitAllowed } = state;
		if (said !== `${messages}`)
			$("#messages").replaceChildren(
				...messages.map((textContent) => element("li", { textContent })),
			);
		said = `${messages}`;
		// Not disabled: a person may be ahead of the response, and the server keeps the order.
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
			// A client that is closed is replaced by one that sends it again.
			unlessClosed(client, (reason) => (text.reason = reason))(error);
		}
		show();
	}

	/** The form is not in the journal: after a restart the server does not know the entries. */
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
				notice("The field has one line: the line ends in the pasted text were left out.");
		};
	}
	$("#entries").onsubmit = (event) => {
		event.preventDefault();
		// The server has another text than the field.
		if (refused()) return fields[refused()].focus();
		const tell = (reason) => write($("#submitted"), "Not set: ", reason);
		store.send({ type: "submitTapped" }).catch(unlessClosed(client, tell));
	};
	$("#show").onchange = ({ target }) => {
		for (const field of Object.values(fields)) field.type = target.checked ? "text" : "password";
	};
	store.watch(show);
	store.onEvent(() => write($("#submitted"), "Set."));
	client.on("resynchronised", ({ store, reason, before }) => {
		if (store === "form" && reason === "reopened") restore(before);
	});
	client.on("session", ({ lost }) => lost && restore());
	if (names.some((name) => sent[name])) restore();
	return () => names.some((name) => sent[name]);
}

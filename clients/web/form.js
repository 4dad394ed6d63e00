// SPDX-License-Identifier: Apache-2.0

import { $, element, write } from "./dom.js";

export function form(client) {
	const fields = { firstEntry: $("#first"), secondEntry: $("#second") };
	const store = client.store("form");
	let said;
	store.watch((state) => {
		// Writing a value moves the caret to its end.
		for (const [name, field] of Object.entries(fields))
			if (field.value !== state[name]) field.value = state[name];
		const { validationMessages: messages, submitAllowed } = state;
		if (said !== `${messages}`)
			$("#messages").replaceChildren(...messages.map((text) => element("li", { textContent: text })));
		said = `${messages}`;
		// Not disabled: who presses Enter is ahead of the answer, and the server keeps the order.
		$("#submit").ariaDisabled = !submitAllowed;
		if (!submitAllowed) write($("#submitted"), "");
	});
	store.onEvent(() => write($("#submitted"), "Set."));

	// Drawn early: what is typed stays in the field however slow the server is.
	const send = (input, entries) => {
		const draw = (state) => ({ ...state, ...entries });
		store.send(input, { draw }).catch(({ message }) => write($("#submitted"), message));
	};
	for (const [name, field] of Object.entries(fields))
		field.oninput = ({ target: { value } }) =>
			send({ type: `${name}Changed`, value }, { [name]: value });
	$("#entries").onsubmit = (event) => {
		event.preventDefault();
		store.send({ type: "submitTapped" }).catch(() => {});
	};
	$("#show").onchange = ({ target }) => {
		for (const field of Object.values(fields)) field.type = target.checked ? "text" : "password";
	};

	// The server never writes a form down: after a restart it has forgotten this.
	const restore = ({ firstEntry, secondEntry } = {}) => {
		const entries = { firstEntry, secondEntry };
		if (firstEntry || secondEntry) send({ type: "entriesChanged", ...entries }, entries);
	};
	client.on("resynchronised", ({ store, reason, before }) => {
		if (store === "form" && reason === "reopened") restore(before);
	});
	client.on("session", ({ lost }) => lost && restore(store.state));
}

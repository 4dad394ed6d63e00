// SPDX-License-Identifier: Apache-2.0
//
// Two clients, each of its own session, and the requests that they have sent. `draw(panels)` of each page draws
// one panel for each description { client, store, kind, config }.

import { Client, webSocket } from "statewire";

const url = new URLSearchParams(location.search).get("server");

/** [client, method, store] of all requests. */
export const sent = [];
let held, holder;

function make(name, options) {
	const dial = webSocket(url);
	const wired = async (listener) => {
		const take = (text) => (held && name === (holder ?? name) ? held.push(() => listener.message(text)) : listener.message(text));
		const transport = await dial({ ...listener, message: take });
		const send = (text) => {
			const { method, params } = JSON.parse(text);
			sent.push([name, method, params?.store]);
			transport.send(text);
		};
		return { send, close: () => transport.close() };
	};
	return new Client(wired, { backoff: { base: 20, maximum: 200 }, ...options });
}

export const clients = { first: make("first"), second: make("second") };

/** Everything from the server waits until `release`; with the name of a client, only what this client receives. */
export const hold = (name) => ([held, holder] = [[], name]);
export const release = () => {
	const texts = held ?? [];
	held = undefined;
	for (const pass of texts) pass();
};
export const holdsMessages = () => held?.length > 0;

export const options = ({ kind, config }) => (kind ? { kind, config } : undefined);
export const titles = (state) =>
	state?.type === "content" ? state.todos.map(({ title }) => title).join(", ") : (state?.type ?? "nothing");

const optimistic = (title) => (state) => ({ ...state, todos: [...state.todos, { id: title, title, completed: false }] });
/** Adds a todo as a component would; the error is shown by the panel alone. */
export const add = (send, title) => send({ type: "todoAdded", title }, { optimistic: optimistic(title) }).catch(() => {});
export const load = (client, store, options) => clients[client].store(store, options).send({ type: "stateRequested" }, { settle: true });

Object.assign(window, { clients, sent, hold, release, holdsMessages, load });

// SPDX-License-Identifier: Apache-2.0
//
// One session: its participants, its stores, and the state of the chosen store.

import { again, showCopy } from "./again.js";
import { Refused, get, repeatedly } from "./api.js";
import { conversation } from "./conversation.js";
import { $, bytes, duration, element, keyed, write } from "./dom.js";
import { meter, set, showGauges, use } from "./gauges.js";
import { buttons, confirmed, evictButton, sender } from "./operate.js";
import { title } from "./sessions.js";
import { timeline } from "./timeline.js";
import { travel } from "./travel.js";
import { Tree } from "./tree.js";

function showFacts(session) {
	const facts = [
		["Id", session.id],
		["Identity", session.identity ?? "none"],
		[session.copy ? "Virtual time" : "Open for", duration(session.ageMilliseconds)],
	];
	if (!session.copy) facts.push(["Shard", `${session.shard}`]);
	if (session.expiresInMilliseconds !== null) facts.push(["Expires in", duration(session.expiresInMilliseconds)]);
	const nodes = facts.flatMap(([name, value]) => [element("dt", { textContent: name }), element("dd", { textContent: value })]);
	const text = facts.flat().join("\n");
	if ($("#facts").text === text) return;
	$("#facts").text = text;
	$("#facts").replaceChildren(...nodes);
}

const count = (number, word) => `${number} ${word}${number === 1 ? "" : "s"}`;

function showParticipants({ id, participants, queueLimit }) {
	keyed(
		$("#participants"),
		participants,
		({ client }) => client,
		(participant) => element("li", {}, element("b"), element("small"), evictButton(id, participant), meter("Queued for this participant")),
		(node, { name, role, active, subscriptions, queuedBytes }) => {
			const queue = { value: queuedBytes, limit: queueLimit ?? 0, unit: "bytes" };
			write(node.children[0], name ?? "unnamed");
			write(node.children[1], `${role}, ${active ? "active" : "inactive"} · ${count(subscriptions, "subscription")} · queued ${use(queue)}`);
			set(node.children[3], queue);
		},
	);
	$("#participants-title").hidden = !participants.length;
}

/** Shows a session. `select` is called with the name of the store that is chosen, and its session if it is another one. */
export function session(select) {
	let id;
	let store;
	/** The states and configurations in the tree. */
	let shown = {};
	const tree = new Tree($("#tree"));
	const earlier = travel((now, before) => {
		copies.show(earlier.shown);
		if (now === undefined) {
			shown = {};
			return run();
		}
		if (before !== undefined) tree.show(before);
		tree.show(now, before !== undefined);
	});
	const inputs = sender();
	const open = (session, name) => select(name, session);
	const copies = again(() => ({ session: id, store, revision: earlier.shown }), open);
	buttons(() => id);
	/** Downloads the recorded events as a conversation. */
	$("#save").onclick = () =>
		confirmed("", $("#session-note"), async () => {
			const stateAt = async (name, revision) => (await get("state", { session: id, store: name, revision })).state;
			const text = await conversation(events.all, stateAt);
			if (!text) throw new Refused(0, "There is nothing to save: no store was opened since this page shows the session. Open a new session while this page shows it, for example by loading its page again.");
			const href = URL.createObjectURL(new Blob([text], { type: "text/plain" }));
			element("a", { href, download: "recorded.conversation" }).click();
			setTimeout(() => URL.revokeObjectURL(href), 10_000);
		});
	const events = timeline((event) => {
		if (event.type === "update" && event.store === store) earlier.visit(event.revision);
	});

	function showStores({ stores }) {
		keyed(
			$("#stores"),
			stores,
			({ name }) => name,
			({ name }) => {
				const button = element("button", {}, element("b"), element("small"));
				button.onclick = () => select(name);
				return element("li", {}, button);
			},
			(node, { name, kind, revision, closed, shared }) => {
				const [title, text] = node.firstChild.children;
				write(title, name);
				write(text, [kind, closed ? "closed" : `revision ${revision}`, shared ? "shared" : ""].filter(Boolean).join(" · "));
				node.firstChild.ariaCurrent = name === store ? "true" : "false";
			},
		);
	}

	async function showState(stores) {
		const known = stores.find(({ name }) => name === store);
		$("#store").hidden = !known;
		if (!known) return;
		write($("#store-title"), known.name);
		write($("#revision"), `${known.kind} · revision ${known.revision}${known.closed ? " · closed" : ""}`);
		write($("#history span"), `${count(known.subscriptions, "subscription")}. Updates for reconnecting clients: ${use(known.history)}`);
		set($("#history meter"), known.history);
		earlier.choose(id, store, known.revision);
		copies.show(earlier.shown);
		inputs.choose(id, store, known.kind);
		if (earlier.isAway) return;
		const isSame = shown.id === id && shown.store === store;
		if (isSame && shown.revision === known.revision && shown.closed === known.closed) return;
		if (!isSame) tree.clear();
		if (known.closed) {
			write($("#state-note"), "The store is closed.");
			tree.clear();
			shown = { id, store, ...known };
			return;
		}
		const asked = { id, store };
		const { revision, state, bytes: size } = await get("state", { session: id, store });
		if (asked.id !== id || asked.store !== store) return;
		write($("#state-note"), state === undefined ? `The state has ${bytes(size)} and is too large to be shown.` : "");
		if (state === undefined) tree.clear();
		else tree.show(state, isSame);
		shown = { id, store, revision, closed: false };
	}

	async function show() {
		if (!id) return;
		const asked = id;
		try {
			const session = await get("session", { session: id });
			if (asked !== id) return;
			$("#session").hidden = false;
			write($("#session-title"), title(session));
			write($("#gone"), "");
			showFacts(session);
			showCopy(session, open);
			showGauges($("#session-gauges"), session.gauges);
			showParticipants(session);
			showStores(session);
			await showState(session.stores);
		} catch (error) {
			if (asked !== id || error.status === undefined) throw error;
			$("#session").hidden = false;
			write($("#gone"), error.status === 404 ? "This session has ended, or sleeps until a client attaches." : error.message);
		}
	}

	const run = repeatedly(500, show);
	return {
		choose(newID, newStore) {
			if (newID !== id) {
				write($("#session-title"), "Session");
				for (const list of ["#facts", "#session-gauges", "#participants", "#stores"]) $(list).replaceChildren();
				$("#facts").text = undefined;
				document.body.classList.remove("copy");
				$("#copy-note").hidden = true;
				for (const note of ["#session-note", "#gone"]) write($(note), "");
			}
			if (newID !== id || newStore !== store) copies.clear();
			[id, store] = [newID, newStore];
			events.choose(id, store);
			run();
		},
	};
}

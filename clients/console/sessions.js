// SPDX-License-Identifier: Apache-2.0
//
// The list of sessions.

import { get, repeatedly } from "./api.js";
import { $, bytes, duration, element, keyed, write } from "./dom.js";

/** The name of a session: the digits of its handle that logs show. */
export function title(session) {
	if (session.copy) return `Copy of ${session.copy.store}, revision ${session.copy.revision}`;
	if (session.shared) return `Shared store ${session.handle}`;
	return session.handle ? `Session ${session.handle}` : "Session without a handle";
}

const names = ({ participants, participantCount }) => {
	const known = participants.map(({ name, role }) => (name ?? "unnamed") + (role === "observer" ? " (observer)" : ""));
	const rest = participantCount - known.length;
	return rest > 0 ? `${known.join(", ")} and ${rest} more` : known.join(", ") || "no client";
};

/** Shows the list. `select` is called with the id of the session that is chosen. */
export function sessions(select) {
	let chosen;
	let limit = 50;
	const show = ({ sessions, next }) => {
		sessions.sort((one, other) => one.ageMilliseconds - other.ageMilliseconds);
		write($("#session-count"), `${sessions.length}${next ? "+" : ""}`);
		$("#no-sessions").hidden = sessions.length > 0;
		write($("#no-sessions"), $("#search").value ? "No session matches." : "No session is loaded.");
		$("#more").hidden = !next || limit >= 200;
		keyed(
			$("#session-list"),
			sessions,
			({ id }) => id,
			({ id }) => {
				const button = element("button", {}, element("b"), element("small"), element("small"));
				button.onclick = () => select(id);
				return element("li", {}, button);
			},
			(node, session) => {
				const [name, first, second] = node.firstChild.children;
				write(name, title(session));
				write(first, session.copy ? "under a virtual clock" : names(session));
				const owner = session.identity ? `${session.identity} · ` : "";
				const shard = session.copy ? "" : ` · shard ${session.shard}`;
				write(second, `${owner}${session.storeCount} ${session.storeCount === 1 ? "store" : "stores"} · ${duration(session.ageMilliseconds)} · ${bytes(session.bytes)}${shard}`);
				node.firstChild.ariaCurrent = session.id === chosen ? "true" : "false";
			},
		);
	};
	const run = repeatedly(2000, async () => {
		try {
			show(await get("sessions", { search: $("#search").value, limit }));
		} catch {
			// The status shows that the server does not respond.
		}
	});
	$("#search").oninput = run;
	$("#more").onclick = () => {
		limit = 200;
		run();
	};
	return {
		choose(id) {
			chosen = id;
			for (const node of $("#session-list").children) node.firstChild.ariaCurrent = node.dataset.key === id ? "true" : "false";
		},
	};
}

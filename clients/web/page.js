// SPDX-License-Identifier: Apache-2.0

import { connect, EvictedError } from "./client/index.js";
import { balance } from "./balance.js";
import { $, announce, write } from "./dom.js";
import { form } from "./form.js";
import { loaders } from "./loaders.js";
import { todo } from "./todo.js";

// The session's handle stays with this tab, not in the address, where histories would keep it.
const kept = sessionStorage;
if (location.hash.length > 20) {
	kept.session = location.hash.slice(1);
	delete kept.frontend;
	history.replaceState(null, "", location.pathname);
}
const client = connect(location.origin.replace("http", "ws"), {
	session: kept.session,
	frontend: kept.frontend,
});
kept.frontend = client.frontend;
client.on("session", ({ session, lost }) => {
	kept.session = session;
	if (lost) announce("The session had ended. This is a new one.");
});
// A duplicate of this tab has taken our name along: we take another one.
client.on("closed", (error) => {
	if (!(error instanceof EvictedError)) return;
	delete kept.frontend;
	location.reload();
});
for (const part of [todo, balance, form, loaders]) part(client);

let wasConnected = false;
function showStatus() {
	const { state, error } = client.status;
	wasConnected ||= state === "connected";
	// The attempts in between are no news.
	const shown = state === "connecting" && wasConnected ? "waiting" : state;
	$("#status").dataset.state = shown;
	const texts = {
		connecting: "Connecting…",
		connected: "Live",
		waiting: client.pending ? `Offline, ${client.pending} to send` : "Offline, trying again",
		closed: `Closed: ${error?.message}`,
	};
	write($("#status span"), texts[shown]);
	$("#retry").hidden = shown !== "waiting";
}
client.on("status", showStatus);
setInterval(showStatus, 1000);
$("#retry").onclick = ononline = () => client.reconnect();

const look = () => client.lifecycle(document.hidden ? "inactive" : "active");
document.onvisibilitychange = look;
look();

const present = ({ attached }) => write($("#present"), attached > 1 ? ` · ${attached} here` : "");
client.on("presence", present);
client.on("status", async ({ state }) => {
	if (state !== "connected") return;
	const { frontends } = await client.request("session/info").catch(() => ({ frontends: [] }));
	present({ attached: frontends.length });
});

$("#share").onclick = async () => {
	const link = `${location.origin}/#${client.session}`;
	const label = $("#share span");
	try {
		await navigator.clipboard.writeText(link);
		write(label, "Link copied");
		announce("Whoever opens the link that was copied shares this session.");
		setTimeout(write, 3000, label, "Share");
	} catch {
		// Pages that come over plain HTTP have no clipboard.
		prompt("Whoever opens this link shares this session:", link);
	}
};

// SPDX-License-Identifier: Apache-2.0

import { connect, EvictedError } from "./client/index.js";
import { balance } from "./balance.js";
import { attempt, kept } from "./browser.js";
import { $, announce, notice, write } from "./dom.js";
import { form } from "./form.js";
import { loaders } from "./loaders.js";
import { todo } from "./todo.js";

let client;
let wasConnected;
/** The session that was left for the one of a link. */
let left = "";
/** Each tells whether a text would be lost with the page. */
let losing = [];

function enter(handle, frontend) {
	kept.set("session", handle);
	kept.set("frontend", frontend);
	const isAnother = client?.session !== handle;
	client?.close();
	wasConnected = false;
	const own = (client = connect(location.origin.replace("http", "ws"), {
		session: handle || undefined,
		frontend: frontend || undefined,
	}));
	kept.set("frontend", client.frontend);
	client.on("session", ({ session, lost }) => {
		if (lost && left) {
			enter(left, "");
			notice("The link leads to a session that has ended, so this tab stays in its own.");
		} else if (lost) notice("The session had ended. This is a new one.");
		if (own === client) kept.set("session", session);
	});
	// A duplicate of this tab has taken its frontend name: this tab takes another one.
	client.on("closed", (error) => {
		if (error instanceof EvictedError) enter(own.session, "");
	});
	client.on("status", showStatus);
	client.on("presence", showPresence);
	client.on("status", async ({ state }) => {
		if (state !== "connected") return;
		if (own.session === handle) left = "";
		const { frontends } = await own.request("session/info").catch(() => ({ frontends: [] }));
		if (own === client) showPresence({ attached: frontends.length });
	});
	losing = [todo, form, balance, loaders].map((part) => part(client, isAnother));
	look();
	showStatus();
}

/**
 * The handle in the address of a share link, if there is one. It stays with this tab: the address
 * and the history are rid of it.
 */
function linked() {
	const { hash, pathname, search } = location;
	if (hash.length <= 20) return "";
	attempt(() => history.replaceState(null, "", pathname + search));
	return hash.slice(1);
}

function showStatus() {
	const { state, error } = client.status;
	wasConnected ||= state === "connected";
	// The attempts between two connections are not shown.
	const shown = state === "connecting" && wasConnected ? "waiting" : state;
	$("#status").dataset.state = shown;
	const texts = {
		connecting: ["Connecting…"],
		connected: ["Live"],
		waiting: [client.pending ? `Offline, ${client.pending} to send` : "Offline, trying again"],
		closed: ["Closed: ", error?.message],
	};
	write($("#status span"), ...texts[shown]);
	$("#retry").hidden = shown !== "waiting";
}

const showPresence = ({ attached }) =>
	write($("#present"), attached > 1 ? ` · ${attached} here` : "");

const look = () => client.lifecycle(document.hidden ? "inactive" : "active");

async function share() {
	if (!client.session) return notice("There is no session yet that could be shared.");
	const link = `${location.origin}/#${client.session}`;
	const label = $("#share span");
	try {
		await navigator.clipboard.writeText(link);
		write(label, "Link copied");
		announce("The link was copied. It leads to this session.");
		setTimeout(write, 3000, label, "Share");
	} catch {
		// Pages over plain HTTP have no clipboard, and a person can deny it.
		notice(`This link leads to this session: ${link}`);
	}
}

function join(mine) {
	const handle = linked();
	if (!handle || handle === mine) return false;
	left = mine;
	enter(handle, "");
	return true;
}

const mine = kept.get("session");
if (!join(mine)) enter(mine, kept.get("frontend"));
onhashchange = () => join(client.session ?? "");
setInterval(showStatus, 1000);
$("#retry").onclick = ononline = () => client.reconnect();
document.onvisibilitychange = look;
$("#share").onclick = share;
$("#notice button").onclick = () => notice("");
onbeforeunload = (event) => {
	if (losing.some((isLosing) => isLosing?.())) event.preventDefault();
};

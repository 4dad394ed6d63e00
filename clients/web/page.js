// SPDX-License-Identifier: Apache-2.0

import { connect, RPCError } from "./client/index.js";
import { balance } from "./balance.js";
import { attempt, kept } from "./browser.js";
import { $, announce, notice, write } from "./dom.js";
import { form } from "./form.js";
import { loaders } from "./loaders.js";
import { todo } from "./todo.js";

let client;
/** The error with which the server refused the connection. */
let refusal;
/** The previous session, while this tab joins the session of a link. */
let left = "";
/** Functions that return true while closing the page would lose a text. */
let losing = [];
const isLosing = () => losing.some((isLosing) => isLosing?.());

function enter(handle, frontend) {
	kept.set("session", handle);
	kept.set("frontend", frontend);
	const isAnother = client?.session !== handle;
	client?.close();
	refusal = "";
	const own = (client = connect(location.origin.replace("http", "ws"), {
		session: handle,
		frontend: frontend || undefined,
	}));
	kept.set("frontend", client.frontend);
	client.on("session", ({ session, lost }) => {
		if (lost && left) {
			join(left, "");
			notice("The session of the link has ended. This tab stays in its previous session.");
		} else if (lost) notice("The session has expired. This is a new session.");
		if (own === client) kept.set("session", session);
	});
	// A duplicate of this tab uses the same frontend name. This tab chooses another one.
	client.on("closed", (error) => {
		if (error.reason === "evicted") enter(own.session, "");
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
	reportPhase();
	showStatus();
}

/**
 * Reads the session handle from a share link and removes it from the address and the history.
 */
function linked() {
	const { hash, pathname, search } = location;
	if (hash.length <= 20) return "";
	attempt(() => history.replaceState(null, "", pathname + search));
	return hash.slice(1);
}

function showStatus() {
	const { state, error } = client.status;
	if (state === "reconnecting") refusal = error instanceof RPCError ? error.message : "";
	const offline = client.pending ? `Offline, ${client.pending} unsent` : "Offline, reconnecting…";
	$("#status").dataset.state = state;
	const texts = {
		connecting: ["Connecting…"],
		connected: ["Connected"],
		reconnecting: refusal ? [`${offline}: `, refusal] : [offline],
		closed: ["Closed: ", error?.message],
	};
	write($("#status span"), ...texts[state]);
	$("#retry").hidden = state !== "reconnecting";
}

const showPresence = ({ attached }) =>
	write($("#present"), attached > 1 ? ` · ${attached} online` : "");

const reportPhase = () => client.setPhase(document.hidden ? "inactive" : "active");

const linkTo = (session) => `${location.origin}/#${session}`;

async function share() {
	if (!client.session) return notice("Not connected yet. Try again when the page is connected.");
	const link = linkTo(client.session);
	const label = $("#share span");
	try {
		await navigator.clipboard.writeText(link);
		write(label, "Link copied");
		announce("The link to this session was copied.");
		setTimeout(write, 3000, label, "Share");
	} catch {
		// Pages over plain HTTP have no clipboard, and its use can be denied.
		notice(`Link to this session: ${link}`);
	}
}

function join(handle, mine) {
	left = mine;
	enter(handle, "");
}

/** Handles a share link that was opened in this tab. */
async function follow() {
	const handle = linked();
	const mine = client.session;
	if (!handle || handle === mine) return;
	// Ends an edit as a click outside does: the title is sent, and kept for the next client.
	document.activeElement.blur();
	await undefined;
	const question = "Join the session of this link? Unsaved changes in this tab will be lost.";
	if (isLosing() && !attempt(() => confirm(question)))
		return notice("The link was not opened: this tab has unsaved changes.");
	const isTyped = $("#first").value || $("#second").value;
	join(handle, mine);
	if (mine && isTyped) notice(`The passphrase form of the previous session: ${linkTo(mine)}`);
}

const [mine, given] = [kept.get("session"), linked()];
if (given && given !== mine) join(given, mine);
else enter(mine, kept.get("frontend"));
onhashchange = follow;
setInterval(showStatus, 1000);
$("#retry").onclick = ononline = () => client.reconnect();
document.onvisibilitychange = reportPhase;
$("#share").onclick = share;
$("#notice button").onclick = () => notice("");
onbeforeunload = (event) => {
	if (isLosing()) event.preventDefault();
};

// SPDX-License-Identifier: Apache-2.0

import { connect, EvictedError, RpcError } from "./client/index.js";
import { balance } from "./balance.js";
import { attempt, kept } from "./browser.js";
import { $, announce, notice, write } from "./dom.js";
import { form } from "./form.js";
import { loaders } from "./loaders.js";
import { todo } from "./todo.js";

let client;
/** The last state that was shown, and why the server has refused the connection. */
let lastShown;
let refusal;
/** The session that was left for the one of a link. */
let left = "";
/** Each tells whether a text would be lost with the page. */
let losing = [];
const isLosing = () => losing.some((isLosing) => isLosing?.());

function enter(handle, frontend) {
	kept.set("session", handle);
	kept.set("frontend", frontend);
	const isAnother = client?.session !== handle;
	client?.close();
	lastShown = undefined;
	refusal = "";
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
	if (state !== "connecting") lastShown = state;
	// The attempts between two connections are not shown.
	const shown = lastShown ?? state;
	if (state === "waiting") refusal = error instanceof RpcError ? error.message : "";
	const offline = client.pending ? `Offline, ${client.pending} to send` : "Offline, trying again";
	$("#status").dataset.state = shown;
	const texts = {
		connecting: ["Connecting…"],
		connected: ["Live"],
		waiting: refusal ? [`${offline}: `, refusal] : [offline],
		closed: ["Closed: ", error?.message],
	};
	write($("#status span"), ...texts[shown]);
	$("#retry").hidden = shown !== "waiting";
}

const showPresence = ({ attached }) =>
	write($("#present"), attached > 1 ? ` · ${attached} here` : "");

const look = () => client.lifecycle(document.hidden ? "inactive" : "active");

const linkTo = (session) => `${location.origin}/#${session}`;

async function share() {
	if (!client.session) return notice("There is no session yet that could be shared.");
	const link = linkTo(client.session);
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

function join(handle, mine) {
	left = mine;
	enter(handle, "");
}

/** A link was opened in this tab. */
async function follow() {
	const handle = linked();
	const mine = client.session ?? "";
	if (!handle || handle === mine) return;
	// As where a person clicks elsewhere: a title that is edited is sent, and kept for the next client.
	document.activeElement.blur();
	await undefined;
	const question = "The link leads to another session. Leave this one, and lose what is not saved?";
	if (isLosing() && !attempt(() => confirm(question)))
		return notice("The link was not followed: something in this tab is not saved yet.");
	const isTyped = $("#first").value || $("#second").value;
	join(handle, mine);
	if (mine && isTyped) notice(`The form's entries are in the session that was left: ${linkTo(mine)}`);
}

const [mine, given] = [kept.get("session"), linked()];
if (given && given !== mine) join(given, mine);
else enter(mine, kept.get("frontend"));
onhashchange = follow;
setInterval(showStatus, 1000);
$("#retry").onclick = ononline = () => client.reconnect();
document.onvisibilitychange = look;
$("#share").onclick = share;
$("#notice button").onclick = () => notice("");
onbeforeunload = (event) => {
	if (isLosing()) event.preventDefault();
};

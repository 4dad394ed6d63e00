// SPDX-License-Identifier: Apache-2.0
//
// The page: one client, four stores, and what the header says of the connection.

import { connect, EvictedError } from "./client/index.js";
import { balance } from "./balance.js";
import { $, announce, write } from "./dom.js";
import { form } from "./form.js";
import { loaders } from "./loaders.js";
import { todo } from "./todo.js";

// The handle of the session is in the link that shares it, and with this tab as long as it lives:
// not in the address, where histories and screenshots would keep it.
if (location.hash.length > 20) {
  sessionStorage.session = location.hash.slice(1);
  delete sessionStorage.frontend;
  history.replaceState(null, "", location.pathname);
}

const client = connect(location.origin.replace(/^http/, "ws") + "/", {
  name: "statewire-page",
  session: sessionStorage.session,
  frontend: (sessionStorage.frontend ??= `page-${Math.random().toString(36).slice(2)}`),
});
client.on("session", ({ session, lost }) => {
  sessionStorage.session = session;
  if (lost) announce("The session had ended. This is a new one.");
});
// A tab that was duplicated has taken our name along: it keeps the name, and we take another one.
client.on("closed", (error) => {
  if (!(error instanceof EvictedError)) return;
  delete sessionStorage.frontend;
  location.reload();
});

todo(client);
balance(client);
form(client);
loaders(client);

const status = $("#status");
const shown = {
  connecting: () => "Connecting…",
  connected: () => "Live",
  waiting: ({ retryAt }) => {
    const seconds = Math.max(1, Math.ceil((retryAt - Date.now()) / 1000));
    return `Offline, trying again in ${seconds} s`;
  },
  closed: ({ error }) => `Closed: ${error.message}`,
};
let wasConnected = false;

function showStatus() {
  const now = client.status;
  // The attempts in between are no news.
  const state = now.state === "connecting" && wasConnected ? "waiting" : now.state;
  status.dataset.state = state;
  wasConnected ||= now.state === "connected";
  const waits = client.pending && now.state !== "connected" ? `, ${client.pending} to send` : "";
  const text = now.state === "waiting" ? "Offline, trying again" : shown[now.state](now);
  write($("span", status), text + waits);
  status.title = shown[now.state](now);
  $("#retry").hidden = now.state !== "waiting";
}
client.on("status", showStatus);
setInterval(showStatus, 1000);
showStatus();

$("#retry").onclick = () => client.reconnect();
addEventListener("online", () => client.reconnect());

const look = () => client.lifecycle(document.hidden ? "inactive" : "active");
document.addEventListener("visibilitychange", look);
if (document.hidden) look();

// Who else is here.
const present = (count) => write($("#present"), count > 1 ? ` · ${count} here` : "");
client.on("presence", ({ attached }) => present(attached));
client.on("status", async ({ state }) => {
  if (state !== "connected") return;
  const { frontends } = await client.request("session/info").catch(() => ({ frontends: [] }));
  present(frontends.length);
  write($("#where"), `Served by ${location.host} over one WebSocket. Every change is a patch.`);
});

const dialog = $("#sharing");
$("#share").onclick = () => {
  $("#link").value = $("#open").href = `${location.origin}/#${client.session}`;
  write($("#copy"), "Copy the link");
  dialog.showModal();
};
$("#done").onclick = () => dialog.close();
$("#copy").onclick = async () => {
  $("#link").select();
  // Pages that come over plain HTTP from elsewhere have no clipboard.
  await (navigator.clipboard?.writeText($("#link").value) ?? document.execCommand("copy"));
  write($("#copy"), "Copied");
  announce("The link was copied.");
};

// SPDX-License-Identifier: Apache-2.0

import { connect, EvictedError } from "./client/index.js";
import { balance } from "./balance.js";
import { $, announce, write } from "./dom.js";
import { form } from "./form.js";
import { loaders } from "./loaders.js";
import { todo } from "./todo.js";

// The session's handle is in the link that shares it, and with this tab as long as it lives: not in
// the address, where histories and screenshots would keep it.
const kept = sessionStorage;
if (location.hash.length > 20) {
  kept.session = location.hash.slice(1);
  delete kept.frontend;
  history.replaceState(null, "", location.pathname);
}
const client = connect(location.origin.replace("http", "ws"), {
  name: "statewire-page",
  session: kept.session,
  frontend: (kept.frontend ??= `page-${Math.random().toString(36).slice(2)}`),
});
client.on("session", ({ session, lost }) => {
  kept.session = session;
  if (lost) announce("The session had ended. This is a new one.");
});
// A tab that was duplicated has taken our name along: it keeps it, and we take another one.
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
  const waiting = client.pending ? `Offline, ${client.pending} to send` : "Offline, trying again";
  const closed = `Closed: ${error?.message}`;
  write($("#status span"), { connecting: "Connecting…", connected: "Live", waiting, closed }[shown]);
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

$("#share").onclick = () => {
  $("#link").value = $("#open").href = `${location.origin}/#${client.session}`;
  write($("#copy"), "Copy the link");
  $("#sharing").showModal();
};
$("#done").onclick = () => $("#sharing").close();
$("#copy").onclick = async () => {
  $("#link").select();
  // Pages that come over plain HTTP have no clipboard.
  await (navigator.clipboard?.writeText($("#link").value) ?? document.execCommand("copy"));
  write($("#copy"), "Copied");
};

// SPDX-License-Identifier: Apache-2.0

import { $, showRevision, write } from "./dom.js";

/** The balance: an amount that is hidden while nobody looks. */
export function balance(client) {
  const section = $("#balance");
  const store = client.store("balance");
  store.watch((state) => {
    showRevision(section, store);
    section.classList.toggle("redacted", state.isRedacted);
    section.classList.toggle("failed", state.infoColor === "failure");
    section.setAttribute("aria-busy", state.isRefreshing);
    write($("h2", section), state.title);
    write($("#amount"), state.isRedacted ? "••••" : state.formattedBalance);
    if (state.isRedacted) $("#amount").setAttribute("aria-label", "Hidden while nobody looks");
    else $("#amount").removeAttribute("aria-label");
    write($("#balance-info"), state.isRedacted ? "Hidden while nobody looks" : state.infoText);
  });
  const refresh = (type) => store.send({ type }).catch(() => {});
  $("#refresh").onclick = () => refresh("refreshButtonWasTapped");
  client.on("session", ({ lost }) => lost && refresh("viewDidAppear"));
  refresh("viewDidAppear");
}

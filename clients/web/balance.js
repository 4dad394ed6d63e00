// SPDX-License-Identifier: Apache-2.0

import { $, unlessClosed, write } from "./dom.js";

export function balance(client) {
	const section = $("#balance");
	const store = client.store("balance");
	store.subscribe((state) => {
		section.ariaBusy = state.isRefreshing;
		section.classList.toggle("failed", state.didFail);
		write($("h2", section), "", state.title);
		write($("#amount"), "", state.isRedacted ? "••••" : state.formattedBalance);
		write($("#info"), "", state.isRedacted ? "Hidden while the page is inactive" : state.infoText);
	});
	const refresh = () =>
		store
			.send({ type: "refreshButtonWasTapped" })
			.catch(unlessClosed(client, (reason) => write($("#info"), "Cannot refresh: ", reason)));
	$("#refresh").onclick = refresh;
	client.on("session", refresh);
	if (client.session) refresh();
}

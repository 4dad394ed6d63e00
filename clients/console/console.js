// SPDX-License-Identifier: Apache-2.0
//
// The console: the address has the session and the store that are shown.

import { get, repeatedly } from "./api.js";
import { $, write } from "./dom.js";
import { fullest, showGauges } from "./gauges.js";
import { session } from "./session.js";
import { sessions } from "./sessions.js";
import { signing } from "./token.js";

/** The store kinds whose programs do not run. */
function showProblems(kinds) {
	const failing = kinds.filter(({ problem }) => problem);
	write($("#problems"), failing.map(({ name, problem }) => `Store kind ${name}: ${problem}`).join("\n"));
	$("#problems").hidden = failing.length === 0;
}

/** The status of the server, and the use of its limits. */
async function showServer() {
	let state = "";
	let text;
	try {
		const { readiness, isTest, gauges, kinds } = await get("server");
		state = readiness;
		text = isTest ? `${readiness}, under test` : readiness;
		document.body.classList.toggle("test", isTest);
		showGauges($("#gauges"), gauges);
		write($("#fullest"), fullest(gauges));
		showProblems(kinds);
	} catch (error) {
		showProblems([]);
		text = error.message;
	}
	$("#status").dataset.state = state;
	write($("#status span"), text);
}

signing();

const places = () => new URLSearchParams(location.hash.slice(1));

function go(sessionID, store) {
	const parameters = new URLSearchParams({ session: sessionID });
	if (store !== undefined) parameters.set("store", store);
	location.hash = parameters;
}

const list = sessions((id) => go(id));
const shown = session((store, id = places().get("session")) => go(id, store));

function follow() {
	const id = places().get("session");
	if (!id) return;
	list.choose(id);
	shown.choose(id, places().get("store") ?? undefined);
}

onhashchange = follow;
follow();
repeatedly(2000, showServer);

// SPDX-License-Identifier: Apache-2.0
//
// The token of the operator. It comes from a form or from the fragment of the address, which a browser
// sends to no server, and is kept for this tab only.

import { $, write } from "./dom.js";

const KEY = "statewire.operator";
/** Other characters cannot be in a field of a request. */
const TOKEN = /^[!-~]+$/;

/** Moves a token from the fragment to the storage of the tab, so that neither address nor history keep it. */
function takeFragment() {
	const parameters = new URLSearchParams(location.hash.slice(1));
	const token = parameters.get("token");
	if (token === null) return false;
	parameters.delete("token");
	history.replaceState(null, "", `#${parameters}`);
	if (!TOKEN.test(token)) return false;
	sessionStorage.setItem(KEY, token);
	return true;
}

let waiting = [];

/** The fields of a request with the token, if there is one. */
export function authorization() {
	const token = sessionStorage.getItem(KEY);
	return token === null ? {} : { Authorization: `Bearer ${token}` };
}

function show() {
	const isAsked = waiting.length > 0;
	$("#sign-in").hidden = !isAsked;
	document.body.classList.toggle("locked", isAsked);
	$("#sign-out").hidden = isAsked || sessionStorage.getItem(KEY) === null;
}

/** True while requests wait for a token. */
export const isAsked = () => waiting.length > 0;

/** Asks for a token, unless another one than `refused` is there already, and returns when there is one. */
export async function asked(refused) {
	if (authorization().Authorization !== refused) return;
	const isFirst = !isAsked();
	const entered = new Promise((done) => waiting.push(done));
	if (isFirst) {
		write($("#status span"), "Sign in");
		write($("#sign-in-note"), refused ? "The server does not accept this token." : "");
		show();
		$("#token").focus();
	}
	await entered;
}

function enter(token) {
	sessionStorage.setItem(KEY, token);
	const all = waiting;
	waiting = [];
	show();
	for (const done of all) done();
}

/** Sets up the form. */
export function signing() {
	takeFragment();
	$("#sign-in").onsubmit = (event) => {
		event.preventDefault();
		const token = $("#token").value.trim();
		$("#token").value = "";
		if (TOKEN.test(token)) enter(token);
		else write($("#sign-in-note"), "A token has visible ASCII characters only.");
	};
	$("#sign-out").onclick = () => {
		sessionStorage.removeItem(KEY);
		location.replace(location.pathname);
	};
	addEventListener("hashchange", () => takeFragment() && isAsked() && enter(sessionStorage.getItem(KEY)));
	show();
}

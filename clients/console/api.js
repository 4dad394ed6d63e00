// SPDX-License-Identifier: Apache-2.0

import { asked, authorization } from "./token.js";

/** A refusal for the operator, by the server or by this page; `status` is that of HTTP, 0 without a response. */
export class Refused extends Error {
	constructor(status, message) {
		super(message);
		this.status = status;
	}
}

async function respond(path, options = {}) {
	let response;
	for (;;) {
		const token = authorization();
		try {
			response = await fetch(`api/${path}`, { ...options, headers: { ...options.headers, ...token } });
		} catch {
			throw new Refused(0, "The server does not respond.");
		}
		if (response.status !== 401) break;
		await asked(token.Authorization);
	}
	const value = await response.json().catch(() => ({}));
	if (!response.ok) throw new Refused(response.status, value.error ?? `Status ${response.status}`);
	return value;
}

/** Requests a value. Parameters that are undefined or empty are left out. */
export function get(path, parameters = {}) {
	const query = Object.entries(parameters)
		.filter(([, value]) => value !== undefined && value !== "")
		.map(([name, value]) => `${name}=${encodeURIComponent(value)}`);
	return respond(query.length ? `${path}?${query.join("&")}` : path);
}

/** Requests a change. */
export const post = (path, body) =>
	respond(path, {
		method: "POST",
		headers: { "Content-Type": "application/json" },
		body: JSON.stringify(body),
	});

/**
 * Calls `work` again and again while the page is visible, each time after the previous call has
 * ended.
 *
 * Returns a function that calls it now, or again after the present call.
 */
export function repeatedly(milliseconds, work) {
	let timer;
	let isDue = false;
	let isRunning = false;
	async function run() {
		isDue = true;
		if (isRunning) return;
		clearTimeout(timer);
		isRunning = true;
		try {
			while (isDue) {
				isDue = false;
				await work();
			}
		} finally {
			isRunning = false;
			if (!document.hidden) timer = setTimeout(run, milliseconds);
		}
	}
	document.addEventListener("visibilitychange", () => document.hidden || run());
	run();
	return run;
}

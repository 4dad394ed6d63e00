// SPDX-License-Identifier: Apache-2.0

import { $, copy, unlessClosed, write } from "./dom.js";

/** Tells percents, so many seconds apart, and then a value. */
const mock = (after, percents, value) => ({
	type: "mock",
	states: [
		...percents.map((percent) => ({
			after,
			state: { type: "loading", progress: { percent, message: null, isCancelled: false } },
		})),
		{ after, state: { type: "loaded", value } },
	],
});
const error = { code: "source.failed", message: "It did not answer" };
const failing = { type: "mock", states: [{ after: 1, state: { type: "failure", error } }] };

const gallery = [
	["Download", "Tells how far it is.", mock(0.4, [0, 7, 18, 34, 52, 71, 88, 96], "4.2 MB")],
	[
		"Unsteady",
		"Tried three times, with longer and longer waits.",
		{ type: "retry", maxAttempts: 3, backoff: { type: "exponential", base: 2 }, of: failing },
	],
	[
		"Slow",
		"Given two seconds, needs six.",
		{ type: "timeout", interval: 2, of: mock(3, [20], "late") },
	],
	[
		"Kept",
		"Slow once, then at hand for half a minute.",
		{ type: "cache", key: "kept", ttl: 30, of: mock(0.5, [25, 50, 75], "from the cellar") },
	],
	[
		"Together",
		"Two at once; the bar is their mean.",
		{ type: "all", of: [mock(0.5, [0, 50], "fast"), mock(1, [0, 30, 60, 90], "slow")] },
	],
	[
		"Debounced",
		"Waits until you stop asking.",
		{ type: "debounce", interval: 0.8, of: mock(0.5, [40], "asked once") },
	],
];

export function loaders(client) {
	$("#gallery").replaceChildren(...gallery.map((row) => card(client, ...row)));
}

function card(client, name, about, config) {
	const id = `loader-${name.toLowerCase()}`;
	const store = client.store(id, { kind: "loading", config });
	const node = Object.assign(copy("#loader"), { id, ariaLabel: name });
	const parts = node.querySelectorAll("h3, b, .about, .meter, i, .soft, button");
	const [title, percent, what, meter, bar, status, load, cancel, reset] = parts;
	title.append(name);
	what.append(about);
	meter.ariaLabel = name;
	for (const button of [load, cancel, reset])
		button.onclick = () =>
			store
				.send({ type: button.name })
				.catch(unlessClosed(client, (reason) => write(status, "Not done: ", reason)));

	store.watch((state) => {
		const { type, progress } = state;
		const isCancelled = progress?.isCancelled;
		const goesOn = type === "loading" && !isCancelled;
		const known = type === "loaded" ? 100 : goesOn ? progress?.percent : 0;
		node.dataset.state = type;
		bar.style.width = `${known ?? 30}%`;
		meter.classList.toggle("unknown", known == null);
		meter.ariaValueNow = known ?? null;
		write(percent, goesOn && known != null ? `${known}%` : "");
		status.ariaLabel = type === "failure" ? "An error occurred" : null;
		write(status, ...said(state));
		const focused = document.activeElement;
		write(load, { failure: "Try again", loaded: "Load again" }[type] ?? "Load");
		load.hidden = isCancelled;
		cancel.hidden = !goesOn;
		reset.hidden = goesOn || type === "idle";
		for (const button of [load, cancel, reset])
			button.ariaLabel = `${button.textContent}: ${name}`;
		// A button that disappears would take the keyboard focus along.
		if (focused.hidden && node.contains(focused)) $("button:not([hidden])", node).focus();
	});
	return node;
}

/** Every second part is the server's. */
function said({ type, progress, value, error }) {
	if (progress?.isCancelled) return ["Loading cancelled."];
	if (type === "loading") return ["", progress?.message ?? "Loading…"];
	if (type === "failure") return ["Error: ", error.message];
	if (type !== "loaded") return ["Not loaded yet"];
	return [value].flat().flatMap((value, i) => [i ? ", " : "Loaded: ", value]);
}

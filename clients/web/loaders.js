// SPDX-License-Identifier: Apache-2.0

import { $, copy, unlessClosed, write } from "./dom.js";

/** A source that reports percentages, `after` seconds apart, and then a value. */
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
const error = { code: "source.failed", message: "The source did not respond" };
const progress = { percent: null, message: "Requesting…", isCancelled: false };
const failing = {
	type: "mock",
	states: [
		{ state: { type: "loading", progress } },
		{ after: 1, state: { type: "failure", error } },
	],
};

const gallery = [
	["Download", "Reports its progress.", mock(0.4, [0, 7, 18, 34, 52, 71, 88, 96], "4.2 MB")],
	[
		"Retried",
		"Tried up to three times with increasing delays.",
		{ type: "retry", maxAttempts: 3, backoff: { type: "exponential", base: 2 }, of: failing },
	],
	[
		"Time limit",
		"Needs six seconds; fails after two.",
		{ type: "timeout", interval: 2, of: mock(3, [20], "late") },
	],
	[
		"Cached",
		"Cached for 30 seconds.",
		{ type: "cache", key: "cached", ttl: 30, of: mock(0.5, [25, 50, 75], "from the source") },
	],
	[
		"In parallel",
		"Three sources at the same time; shows their average progress.",
		{
			type: "all",
			of: [
				mock(0.5, [0, 50], "fast"),
				mock(0.8, [0, 30, 60], "steady"),
				mock(1, [0, 20, 40, 60, 80], "slow"),
			],
		},
	],
	[
		"Debounced",
		"Loads when requests pause for 0.8 seconds.",
		{ type: "debounce", interval: 0.8, of: mock(0.5, [40], "latest result") },
	],
];

export function loaders(client) {
	$("#gallery").replaceChildren(...gallery.map((row) => card(client, ...row)));
}

function card(client, name, about, config) {
	const id = `loader-${name.toLowerCase().replaceAll(" ", "-")}`;
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
				.catch(unlessClosed(client, (reason) => write(status, "Cannot do this: ", reason)));

	store.subscribe((state) => {
		const { type, progress } = state;
		const isCancelled = progress?.isCancelled;
		const isActive = type === "loading" && !isCancelled;
		const known = type === "loaded" ? 100 : isActive ? progress?.percent : 0;
		node.dataset.state = type;
		bar.style.width = `${known ?? 30}%`;
		meter.classList.toggle("unknown", known == null);
		meter.ariaValueNow = known ?? null;
		write(percent, isActive && known != null ? `${known}%` : "");
		status.ariaLabel = type === "failure" ? "An error occurred" : null;
		write(status, ...description(state));
		const focused = document.activeElement;
		write(load, { failure: "Try again", loaded: "Load again" }[type] ?? "Load");
		load.hidden = isCancelled;
		cancel.hidden = !isActive;
		reset.hidden = isActive || type === "idle";
		for (const button of [load, cancel, reset])
			button.ariaLabel = `${button.textContent}: ${name}`;
		// If the focused button is hidden, the focus moves to a visible one.
		if (focused.hidden && node.contains(focused)) $("button:not([hidden])", node).focus();
	});
	return node;
}

/** Describes a state. Every second part is text of the server. */
function description({ type, progress, value, error }) {
	if (progress?.isCancelled) return ["Loading cancelled."];
	if (type === "loading") return ["", progress?.message ?? "Loading…"];
	if (type === "failure") return ["Error: ", error.message];
	if (type !== "loaded") return ["Not loaded yet"];
	return [value].flat().flatMap((value, i) => [i ? ", " : "Loaded: ", value]);
}

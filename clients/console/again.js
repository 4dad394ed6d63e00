// SPDX-License-Identifier: Apache-2.0
//
// Copies of stores: "Replay from this revision", and the description of a copy on the page.

import { post } from "./api.js";
import { $, element, write } from "./dom.js";
import { confirmed } from "./operate.js";

const WORK = { fail: "fails", hang: "does not end" };
const count = (number, word) => `${number} ${word}${number === 1 ? "" : "s"}`;

/**
 * Sets up the form that runs a copy. `place` returns the session, the store and the revision that are shown;
 * `open` is called with the session of the copy, and the name of its store.
 */
export function again(place, open) {
	$("#again").onsubmit = (event) => {
		event.preventDefault();
		const { session, store, revision } = place();
		confirmed("", $("#again-note"), async () => {
			const body = { store, revision, inputs: $("#again-inputs").checked, work: $("#again-work").value };
			const copy = await post(`copy?session=${encodeURIComponent(session)}`, body);
			open(copy.session, store);
		});
	};
	return {
		/** Shows the revision from which a copy begins. */
		show: (revision) => write($("#again .main"), `Run a copy from revision ${revision}`),
		clear: () => write($("#again-note"), ""),
	};
}

/** Shows the description and the progress of a copy. */
export function showCopy({ copy, progress }, open) {
	document.body.classList.toggle("copy", Boolean(copy));
	$("#copy-note").hidden = !copy;
	write($("#end"), copy ? "End the copy" : "End session");
	if (!copy) return;
	const { total, sent, refused, busy } = progress;
	const inputs = total ? `${sent} of ${count(total, "recorded input")} sent${refused ? `, ${refused} refused` : ""}. ` : "";
	const omitted = copy.omitted ? `${count(copy.omitted, "input")} without recorded contents cannot be sent. ` : "";
	write(
		$("#copy-text"),
		`A copy of the store ${copy.store} from revision ${copy.revision}, under a virtual clock. ${inputs}${omitted}${busy ? "It is busy. " : ""}` +
			`External work ${WORK[copy.work]} here. Nothing reaches the session itself.`,
	);
	$("#copy-original").onclick = () => open(copy.session, copy.store);
}

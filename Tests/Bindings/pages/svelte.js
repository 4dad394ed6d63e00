// SPDX-License-Identifier: Apache-2.0
//
// The compiler of Svelte is in no package, so this page does what compiled components do with `$store`: subscribe
// when the component begins or its store changes, draw each value, unsubscribe when it ends.

import { useStore } from "statewire/svelte";

import { add, clients, options, titles } from "./clients.js";

class Panel {
	section = document.createElement("section");

	constructor() {
		this.section.innerHTML = `<output></output><b></b><button class="add">Add</button><button class="retry">Retry</button>`;
		document.querySelector("main").append(this.section);
		this.section.querySelector(".add").onclick = () => add(this.value.send, "New");
		this.section.querySelector(".retry").onclick = () => this.value.retry();
	}

	use(panel) {
		const description = JSON.stringify(panel);
		if (description === this.description) return;
		this.description = description;
		this.stop?.();
		this.stop = useStore(clients[panel.client], panel.store, options(panel)).subscribe((value) => {
			this.value = value;
			this.section.dataset.status = value.status.state;
			this.section.dataset.optimistic = value.isOptimistic;
			this.section.querySelector("output").textContent = titles(value.state);
			this.section.querySelector("b").textContent = value.error?.message ?? "";
		});
	}

	end() {
		this.stop();
		this.section.remove();
	}
}

const drawn = [];
window.draw = (panels) => {
	for (const panel of drawn.splice(panels.length)) panel.end();
	panels.forEach((panel, number) => (drawn[number] ??= new Panel()).use(panel));
};

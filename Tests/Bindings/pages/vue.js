// SPDX-License-Identifier: Apache-2.0

import { createApp, reactive, version } from "vue";
import { useStore } from "statewire/vue";

import { add, clients, options, titles } from "./clients.js";

const Panel = {
	props: ["panel"],
	setup({ panel }) {
		// The properties of `panel` change while the component is mounted.
		const { state, send, ...rest } = useStore(() => clients[panel.client], () => panel.store, () => options(panel));
		return { state, titles, add: () => add(send, "New"), ...rest };
	},
	template: `
		<section :data-status="status.state" :data-optimistic="isOptimistic">
			<output>{{ titles(state) }}</output>
			<b>{{ error?.message }}</b>
			<button class="add" @click="add">Add</button>
			<button class="retry" @click="retry">Retry</button>
		</section>`,
};

const drawn = reactive({ panels: [] });
window.draw = (panels) => {
	panels.forEach((panel, number) => {
		drawn.panels[number] ??= {};
		for (const name of ["client", "store", "kind", "config"]) drawn.panels[number][name] = panel[name];
	});
	drawn.panels.length = panels.length;
};
window.version = version;

createApp({
	components: { Panel },
	setup: () => ({ drawn }),
	template: `<Panel v-for="(panel, number) in drawn.panels" :key="number" :panel="panel" />`,
}).mount("main");

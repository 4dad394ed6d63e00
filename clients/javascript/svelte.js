// SPDX-License-Identifier: Apache-2.0
// svelte.d.ts documents the exports.

import { StoreView } from "./src/view.js";

export function useStore(client, name, options) {
	const view = new StoreView(client, name, options);
	const subscribe = (run) => {
		let shown;
		const show = () => {
			if (shown !== view.current()) run((shown = view.current()));
		};
		const stop = view.subscribe(show);
		show();
		return stop;
	};
	return { subscribe, send: view.send, retry: view.retry };
}

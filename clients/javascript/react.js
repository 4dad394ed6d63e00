// SPDX-License-Identifier: Apache-2.0
// react.d.ts documents the exports.

import { useMemo, useSyncExternalStore } from "react";

import { StoreView, viewKey } from "./src/view.js";

export function useStore(client, name, options) {
	const key = viewKey(name, options);
	const view = useMemo(() => new StoreView(client, name, options), [client, key]);
	return useSyncExternalStore(view.subscribe, view.current, () => view.initial);
}

// SPDX-License-Identifier: Apache-2.0
// vue.d.ts documents the exports.

import { computed, onScopeDispose, shallowRef, unref, watch } from "vue";

import { StoreView, viewKey } from "./src/view.js";

const read = (source) => (typeof source === "function" ? source() : unref(source));

export function useStore(client, name, options) {
	let view;
	let stop = () => {};
	const value = shallowRef();
	const sources = [() => read(client), () => viewKey(read(name), read(options))];
	const renew = ([client]) => {
		stop();
		view = new StoreView(client, read(name), read(options));
		const show = () => (value.value = view.current());
		stop = view.subscribe(show);
		show();
	};
	// Not synchronous: name and options may change one after the other.
	watch(sources, renew, { immediate: true });
	onScopeDispose(() => stop());
	const member = (name) => computed(() => value.value[name]);
	return {
		state: member("state"),
		isOptimistic: member("isOptimistic"),
		status: member("status"),
		error: member("error"),
		send: (...args) => view.send(...args),
		retry: () => view.retry(),
	};
}

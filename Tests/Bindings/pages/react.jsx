// SPDX-License-Identifier: Apache-2.0

import React, { memo, startTransition, StrictMode, useDeferredValue, useLayoutEffect, useReducer, useEffect } from "react";
import { flushSync } from "react-dom";
import { createRoot } from "react-dom/client";
import { useStore } from "statewire/react";

import { add, clients, options, titles } from "./clients.js";

function Panel({ client, store, ...rest }) {
	const { state, status, error, isOptimistic, send, retry } = useStore(clients[client], store, options(rest));
	return (
		<section data-status={status.state} data-optimistic={isOptimistic}>
			<output>{titles(state)}</output>
			<b>{error?.message}</b>
			<button className="add" onClick={() => add(send, "New")}>Add</button>
			<button className="retry" onClick={retry}>Retry</button>
		</section>
	);
}

const root = createRoot(document.querySelector("main"));
const Mode = new URLSearchParams(location.search).has("strict") ? StrictMode : React.Fragment;

window.draw = (panels) =>
	flushSync(() => root.render(<Mode>{panels.map((panel, number) => <Panel key={number} {...panel} />)}</Mode>));

// Tearing: all rows draw one state in one commit, also when an update comes while React draws them.

let midway = () => {};

/** A hook as one would write it without `useSyncExternalStore`. */
function useStoreNaively(client, name) {
	const [, renew] = useReducer((count) => count + 1, 0);
	useEffect(() => client.store(name).subscribe(renew), [client, name]);
	return { state: client.store(name).state };
}

const Row = memo(function Row({ use, name, isMidway }) {
	const { state } = use(clients.first, name);
	if (isMidway) midway();
	return <li>{state?.todos?.length}</li>;
});

const Deferred = memo(({ value }) => <li>{value}</li>);

function DeferredRows({ name }) {
	const { state } = useStore(clients.first, name);
	const count = useDeferredValue(state?.todos?.length);
	return Array.from({ length: 10 }, (_, number) => <Deferred key={number} value={count} />);
}

/**
 * `report` is called after each commit with the different texts of the rows. Without rows, no component uses the
 * store: an update of one would begin the transition again.
 */
function Rows({ use, name, count, report }) {
	useLayoutEffect(() => {
		const texts = (id) => [...new Set([...document.querySelectorAll(`#${id} li`)].map(({ textContent }) => textContent))];
		report(texts("rows"), texts("deferred"));
	});
	return (
		<>
			<ul id="rows">
				{Array.from({ length: count }, (_, number) => (
					<Row key={number} use={use} name={name} isMidway={2 * number === count} />
				))}
			</ul>
			<ul id="deferred">{count > 0 && <DeferredRows name={name} />}</ul>
		</>
	);
}

/**
 * Mounts rows in transitions; halfway through each, an update by another client arrives. Returns the number of
 * commits with rows of different states, and the number of states that commits have shown.
 */
window.tear = async (isNaive, name) => {
	const use = isNaive ? useStoreNaively : useStore;
	const other = clients.second.store(name, { kind: "todo", config: { list: name } });
	let torn = 0;
	let committed = () => {};
	const shown = new Set();
	const report = (rows, deferred) => {
		if (!rows.length) return;
		if (rows.length > 1 || deferred.length > 1) torn++;
		shown.add(rows[0]);
		committed();
	};
	const tree = (count) => <Mode><Rows use={use} name={name} count={count} report={report} /></Mode>;
	flushSync(() => root.render(tree(0)));
	const stop = clients.first.store(name).subscribe(() => {});
	midway = release;
	for (let round = 0; round < 6; round++) {
		hold("first");
		await other.send({ type: "todoAdded", title: `${round}` });
		while (!holdsMessages()) await new Promise((resolve) => setTimeout(resolve, 1));
		const done = new Promise((resolve) => (committed = resolve));
		startTransition(() => root.render(tree(60)));
		await done;
		flushSync(() => root.render(tree(0)));
	}
	midway = () => {};
	stop();
	flushSync(() => root.render(null));
	return { torn, shown: shown.size };
};

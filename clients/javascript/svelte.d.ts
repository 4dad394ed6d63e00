// SPDX-License-Identifier: Apache-2.0

import type { MaybeClient, StoreKinds, StoreOptions, StoreTypes, StoreValue } from "./view.js";

export type { StoreValue };

/** A store in the sense of Svelte: its value is `$name`. */
export interface ReadableStore<Types extends StoreTypes = StoreTypes> {
  /** Calls back with the current value, and after each change. Returns a function that unsubscribes. */
  subscribe(run: (value: StoreValue<Types>) => void): () => void;
  readonly send: StoreValue<Types>["send"];
  readonly retry: () => void;
}

/**
 * Makes a Svelte store of what a component draws of a store. The client subscribes while the Svelte store has
 * subscribers. Takes the arguments of `Client.store`.
 */
export function useStore<Kind extends keyof StoreKinds>(
  client: MaybeClient,
  name: Kind,
): ReadableStore<StoreKinds[Kind]>;
export function useStore<Kind extends keyof StoreKinds>(
  client: MaybeClient,
  name: string,
  options: { kind: Kind; config?: StoreKinds[Kind]["config"] },
): ReadableStore<StoreKinds[Kind]>;
export function useStore<Types extends StoreTypes = StoreTypes>(
  client: MaybeClient,
  name: string,
  options?: StoreOptions<Types>,
): ReadableStore<Types>;

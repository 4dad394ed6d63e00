// SPDX-License-Identifier: Apache-2.0

import type { MaybeClient, StoreKinds, StoreOptions, StoreTypes, StoreValue } from "./view.js";

export type { StoreValue };

/**
 * A hook: draws the component again after each change of a store. The client subscribes to the store while a
 * component is mounted that uses it. Takes the arguments of `Client.store`; the component may change them.
 */
export function useStore<Kind extends keyof StoreKinds>(
  client: MaybeClient,
  name: Kind,
): StoreValue<StoreKinds[Kind]>;
export function useStore<Kind extends keyof StoreKinds>(
  client: MaybeClient,
  name: string,
  options: { kind: Kind; config?: StoreKinds[Kind]["config"] },
): StoreValue<StoreKinds[Kind]>;
export function useStore<Types extends StoreTypes = StoreTypes>(
  client: MaybeClient,
  name: string,
  options?: StoreOptions<Types>,
): StoreValue<Types>;

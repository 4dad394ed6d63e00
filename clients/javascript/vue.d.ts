// SPDX-License-Identifier: Apache-2.0

import type { ComputedRef, Ref } from "vue";

import type { MaybeClient, StoreKinds, StoreOptions, StoreTypes, StoreValue } from "./view.js";

export type { StoreValue };

/** A value, a ref, or a function that reads reactive values. */
export type Source<Value> = Value | Ref<Value> | (() => Value);

/** The members of `StoreValue` as refs, and its functions. */
export interface StoreRefs<Types extends StoreTypes = StoreTypes> {
  readonly state: ComputedRef<StoreValue<Types>["state"]>;
  readonly isOptimistic: ComputedRef<boolean>;
  readonly status: ComputedRef<StoreValue<Types>["status"]>;
  readonly error: ComputedRef<Error | undefined>;
  readonly send: StoreValue<Types>["send"];
  readonly retry: () => void;
}

/**
 * A composable: refs of what a component draws of a store. The client subscribes to the store until the scope
 * of the effects ends. Takes the arguments of `Client.store`, each as a value, a ref or a function.
 */
export function useStore<Kind extends keyof StoreKinds>(
  client: Source<MaybeClient>,
  name: Kind,
): StoreRefs<StoreKinds[Kind]>;
export function useStore<Kind extends keyof StoreKinds>(
  client: Source<MaybeClient>,
  name: Source<string>,
  options: Source<{ kind: Kind; config?: StoreKinds[Kind]["config"] }>,
): StoreRefs<StoreKinds[Kind]>;
export function useStore<Types extends StoreTypes = StoreTypes>(
  client: Source<MaybeClient>,
  name: Source<string>,
  options?: Source<StoreOptions<Types> | undefined>,
): StoreRefs<Types>;

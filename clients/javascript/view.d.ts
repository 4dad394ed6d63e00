// SPDX-License-Identifier: Apache-2.0

import type { Client, Status, Store, StoreKinds, StoreTypes } from "./index.js";

/**
 * What a component draws of one store: the same in all bindings. Immutable; there is another object after each
 * change.
 */
export interface StoreValue<Types extends StoreTypes = StoreTypes> {
  /** The state to draw, with optimistic updates. Undefined before the first state and after an error. */
  readonly state: Types["state"] | undefined;
  /** True while an optimistic update is applied to `state`. */
  readonly isOptimistic: boolean;
  /** The status of the client. While it is `reconnecting`, `state` is the last state. */
  readonly status: Status;
  /**
   * The error that has ended the subscription, for example because the store cannot be opened, was closed, or
   * because the client was closed. Nothing is thrown.
   */
  readonly error: Error | undefined;
  /** Sends an input: `Store.send`. */
  readonly send: Store<Types>["send"];
  /** Subscribes again after an error. */
  readonly retry: () => void;
}

/** The client; null or undefined while there is none yet. */
export type MaybeClient = Client | null | undefined;

/** The options of a store that the client opens before use. They are compared by value. */
export interface StoreOptions<Types extends StoreTypes = StoreTypes> {
  kind: string;
  config?: Types["config"];
}

export type { StoreKinds, StoreTypes };

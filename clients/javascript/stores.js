// SPDX-License-Identifier: Apache-2.0
//
// Stores in JavaScript, for Node: `serve` connects a store kind with a Statewire server, `TestStore` tests it.
// The files import nothing of the client, so a project can have a copy of them.

export { action, after, cancel, Effect, event, every, redacted, Refusal, run } from "./stores/effects.js";
export { serve } from "./stores/serving.js";
export { TestFailure, TestStore } from "./stores/testing.js";

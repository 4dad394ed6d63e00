// SPDX-License-Identifier: Apache-2.0
//
// A number. It counts by itself while it runs.

import { cancel, every, serve } from "./statewire/stores.js";

/** Returns the next state, or a pair of it and effects. */
function update(state, { type }) {
  switch (type) {
    case "incrementTapped":
    case "secondPassed":
      return { ...state, count: state.count + 1 };
    case "startTapped":
      return [{ ...state, isRunning: true }, every(1000, { type: "secondPassed" }, "counting")];
    case "stopTapped":
      return [{ ...state, isRunning: false }, cancel("counting")];
  }
}

// The inputs, which a client sends. The server refuses all others; "secondPassed" is an action, which only an effect sends.
const input = {
  type: "object",
  properties: { type: { enum: ["incrementTapped", "startTapped", "stopTapped"] } },
  required: ["type"],
};
// The state, which clients receive.
const viewState = {
  type: "object",
  properties: { count: { type: "integer" }, isRunning: { type: "boolean" } },
  required: ["count", "isRunning"],
};

export const kind = { initial: { count: 0, isRunning: false }, update, schemas: { input, viewState } };
serve(kind, import.meta);

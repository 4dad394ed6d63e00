// SPDX-License-Identifier: Apache-2.0
//
// The client for browsers and everything that has a WebSocket. It imports nothing of Node's;
// node.js adds processes, sockets and TLS.

import { Client } from "./src/client.js";
import { webSocket } from "./src/websocket.js";

/** A client of the server at a WebSocket's address; it connects at once, and again when it has to. */
export function connect(url, options) {
  return new Client(webSocket(url, options), options);
}

export { Client, webSocket };
export { Store } from "./src/store.js";
export { applyPatch, PatchError } from "./src/patch.js";
export { canonical, crc32, digest } from "./src/digest.js";
export * from "./src/errors.js";

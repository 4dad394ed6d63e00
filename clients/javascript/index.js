// SPDX-License-Identifier: Apache-2.0
// index.d.ts documents the exports.

import { Client } from "./src/client.js";
import { webSocket } from "./src/websocket.js";

export const connect = (url, options) => new Client(webSocket(url, options), options);

export { Client, webSocket };
export { Store } from "./src/store.js";
export { applyPatch, PatchError } from "./src/patch.js";
export { canonical, crc32, digest } from "./src/digest.js";
export * from "./src/errors.js";

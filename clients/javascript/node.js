// SPDX-License-Identifier: Apache-2.0
//
// The client for Node: the exports of index.js, and connections to spawned servers and over sockets.

import { Client } from "./src/client.js";
import { StatewireError } from "./src/errors.js";
import { process as spawned, socket, tlsSocket } from "./src/node/streams.js";
import { webSocket } from "./src/node/websocket.js";

/**
 * Makes a client of the server at an address: `tcp://host:port`, `tls://host:port`, `unix:/path`,
 * `ws://…` or `wss://…`. `tls` in the options are those of Node's `tls.connect`.
 */
export function connect(address, options = {}) {
  return new Client(dial(address, options), options);
}

/** Makes a client that spawns its own server and ends it. */
export function spawn(command, args, { process, ...options } = {}) {
  return new Client(spawned(command, args, process), options);
}

export function dial(address, { tls } = {}) {
  if (address.startsWith("unix:")) return socket({ path: address.slice("unix:".length) });
  const url = new URL(address);
  const place = { host: url.hostname.replace(/^\[(.*)\]$/, "$1"), port: Number(url.port) };
  switch (url.protocol) {
    case "tcp:":
      return socket(place);
    case "tls:":
      return tlsSocket({ ...place, ...tls });
    case "ws:":
    case "wss:":
      return webSocket(address, tls);
    default:
      throw new StatewireError(`unknown address ${address}; use tcp://, tls://, unix:, ws:// or wss://`);
  }
}

export { Client, socket, spawned as process, tlsSocket, webSocket };
export { Store } from "./src/store.js";
export { applyPatch, PatchError } from "./src/patch.js";
export { canonical, crc32, digest } from "./src/digest.js";
export * from "./src/errors.js";

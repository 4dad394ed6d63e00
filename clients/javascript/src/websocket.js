// SPDX-License-Identifier: Apache-2.0

import { ConnectionLostError, StatewireError } from "./errors.js";

/** Dials a WebSocket; one message is one frame. `WebSocket` is the platform's unless one is given. */
export function webSocket(url, { WebSocket = globalThis.WebSocket } = {}) {
  if (!WebSocket) throw new StatewireError("there is no WebSocket here; give one in the options");
  return ({ message, closed, signal }) =>
    new Promise((resolve, reject) => {
      const socket = new WebSocket(url);
      const end = (reason) => {
        signal?.removeEventListener("abort", abort);
        const error = new ConnectionLostError(reason);
        reject(error);
        closed(error);
      };
      const abort = () => socket.close();
      signal?.addEventListener("abort", abort);
      socket.onopen = () => {
        signal?.removeEventListener("abort", abort);
        resolve({ send: (text) => socket.send(text), close: abort });
      };
      socket.onmessage = ({ data }) => message(data);
      socket.onclose = ({ code, reason }) => end(`the WebSocket was closed: ${code} ${reason}`);
    });
}

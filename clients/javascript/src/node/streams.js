// SPDX-License-Identifier: Apache-2.0
//
// Channels to a program of our own, and over sockets.

import { spawn as spawnProcess } from "node:child_process";
import net from "node:net";
import tls from "node:tls";

import { ConnectionLostError } from "../errors.js";
import { lineChannel } from "./lines.js";

/** Spawns a server and speaks over its standard streams; each further connection spawns another one. */
export function process(command, args = ["serve"], options = {}) {
  return (listener) =>
    new Promise((resolve, reject) => {
      const child = spawnProcess(command, args, {
        stdio: ["pipe", "pipe", "inherit"],
        ...options,
      });
      child.once("error", reject);
      child.once("spawn", () => {
        // The server ends with its input.
        const end = () => child.stdin.destroyed || child.stdin.end();
        const channel = lineChannel(child.stdout, child.stdin, listener, end);
        resolve({ ...channel, pid: child.pid });
      });
    });
}

/** Dials a TCP address, `{host, port}`, or a Unix socket, `{path}`. */
export function socket(address) {
  return (listener) => open(net.connect({ noDelay: true, ...address }), "connect", listener);
}

/** Dials a TCP address over TLS; the options are those of Node's `tls.connect`. */
export function tlsSocket(options) {
  const servername = net.isIP(options.host) ? undefined : options.host;
  return (listener) => open(tls.connect({ servername, ...options }), "secureConnect", listener);
}

function open(stream, ready, listener) {
  return new Promise((resolve, reject) => {
    const abort = () => stream.destroy(new ConnectionLostError("there was no connection in time"));
    const closed = () => reject(new ConnectionLostError("the connection was refused"));
    listener.signal?.addEventListener("abort", abort);
    stream.once("error", reject);
    stream.once("close", closed);
    stream.once(ready, () => {
      listener.signal?.removeEventListener("abort", abort);
      stream.off("error", reject);
      stream.off("close", closed);
      resolve(lineChannel(stream, stream, listener, () => stream.end()));
    });
  });
}

// SPDX-License-Identifier: Apache-2.0
//
// Transports over the standard streams of a process and over sockets.

import { spawn as spawnProcess } from "node:child_process";
import net from "node:net";
import tls from "node:tls";

import { ConnectionLostError } from "../errors.js";
import { lineTransport } from "./lines.js";

// Milliseconds between the end of the input, SIGTERM and SIGKILL.
const patience = 5_000;

/** Spawns a server and connects over its standard streams. Each connection spawns another server. */
export function process(command, args = ["serve"], options = {}) {
  return (listener) =>
    new Promise((resolve, reject) => {
      const child = spawnProcess(command, args, {
        stdio: ["pipe", "pipe", "inherit"],
        ...options,
      });
      child.once("error", reject);
      child.once("spawn", () => {
        // A server ends at the end of its input. Otherwise it is terminated.
        let isEnding = false;
        const end = () => {
          if (isEnding) return;
          isEnding = true;
          if (!child.stdin.destroyed) child.stdin.end();
          const steps = [
            setTimeout(() => child.kill("SIGTERM"), patience),
            setTimeout(() => child.kill("SIGKILL"), 2 * patience),
          ];
          for (const step of steps) step.unref();
          child.once("exit", () => steps.forEach(clearTimeout));
        };
        const transport = lineTransport(child.stdout, child.stdin, listener, end);
        // The connection was aborted meanwhile.
        if (listener.signal?.aborted) {
          transport.close();
          return reject(new ConnectionLostError("connecting took too long"));
        }
        listener.signal?.addEventListener("abort", transport.close);
        resolve(transport);
      });
    });
}

/** Connects to a TCP address, `{host, port}`, or a Unix socket, `{path}`. */
export function socket(address) {
  return (listener) => open(net.connect({ noDelay: true, ...address }), "connect", listener);
}

/** Connects over TLS; the options are those of Node's `tls.connect`. */
export function tlsSocket(options) {
  const servername = net.isIP(options.host) ? undefined : options.host;
  return (listener) => open(tls.connect({ servername, ...options }), "secureConnect", listener);
}

/** Ends the sending side of a socket, and destroys the socket after a second. */
export function endSocket(stream) {
  if (stream.writableEnded) return;
  stream.end();
  const timer = setTimeout(() => stream.destroy(), 1_000).unref();
  stream.once("close", () => clearTimeout(timer));
}

function open(stream, ready, listener) {
  return new Promise((resolve, reject) => {
    const abort = () => stream.destroy(new ConnectionLostError("connecting took too long"));
    const closed = () => reject(new ConnectionLostError("the connection was refused"));
    listener.signal?.addEventListener("abort", abort);
    stream.once("error", reject);
    stream.once("close", closed);
    stream.once(ready, () => {
      listener.signal?.removeEventListener("abort", abort);
      stream.off("error", reject);
      stream.off("close", closed);
      resolve(lineTransport(stream, stream, listener, () => endSocket(stream)));
    });
  });
}

// SPDX-License-Identifier: Apache-2.0
//
// Channels to a program of our own, and over sockets.

import { spawn as spawnProcess } from "node:child_process";
import net from "node:net";
import tls from "node:tls";

import { ConnectionLostError } from "../errors.js";
import { lineChannel } from "./lines.js";

// How long a server of our own may take to end, in milliseconds.
const patience = 5_000;

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
        // A server ends with its input; what does not is helped.
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
        const channel = lineChannel(child.stdout, child.stdin, listener, end);
        // Given up while it was started.
        if (listener.signal?.aborted) {
          channel.close();
          return reject(new ConnectionLostError("there was no connection in time"));
        }
        listener.signal?.addEventListener("abort", channel.close);
        resolve(channel);
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

/** Ends our direction of a socket, and soon the socket, whether its peer ends the other one or not. */
export function endSocket(stream) {
  if (stream.writableEnded) return;
  stream.end();
  const timer = setTimeout(() => stream.destroy(), 1_000).unref();
  stream.once("close", () => clearTimeout(timer));
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
      resolve(lineChannel(stream, stream, listener, () => endSocket(stream)));
    });
  });
}

// SPDX-License-Identifier: Apache-2.0
//
// Frames as lines over a byte stream of Node.

import { StatewireError } from "../errors.js";

/** The maximum length of a frame; a longer one closes the connection. */
export const maximumFrameBytes = 256 * 1024 * 1024;

/**
 * Reads frames from `readable` and writes frames to `writable`. Frames of one turn of the event loop are
 * written together.
 */
export function lineTransport(readable, writable, { message, closed }, end) {
  let chunks = [];
  let bytes = 0;
  readable.on("data", (chunk) => {
    let from = 0;
    for (let to; (to = chunk.indexOf(10, from)) !== -1; from = to + 1) {
      const line = chunk.subarray(from, to);
      const text = chunks.length ? Buffer.concat([...chunks, line]).toString() : line.toString();
      chunks = [];
      bytes = 0;
      if (text.trim()) message(text);
    }
    if (from === chunk.length) return;
    chunks.push(chunk.subarray(from));
    bytes += chunk.length - from;
    if (bytes > maximumFrameBytes) fail(new StatewireError(`a frame is longer than ${maximumFrameBytes} bytes`));
  });
  const fail = (error) => {
    end();
    closed(error);
  };
  for (const stream of [readable, writable]) {
    stream.on("error", fail);
    stream.on("close", () => fail(new StatewireError("the connection has ended")));
  }
  readable.on("end", () => fail(new StatewireError("the server has closed the connection")));

  let waiting = [];
  const flush = () => {
    const text = waiting.join("");
    waiting = [];
    if (writable.writable) writable.write(text);
  };
  return {
    send(text) {
      if (waiting.push(`${text}\n`) === 1) queueMicrotask(flush);
    },
    close() {
      if (waiting.length) flush();
      end();
    },
  };
}

// SPDX-License-Identifier: Apache-2.0
//
// Frames as lines over any duplex byte stream of Node's.

import { StatewireError } from "../errors.js";

/** A frame that is longer than this is not waited for. */
export const maximumFrameBytes = 256 * 1024 * 1024;

/**
 * Reads frames out of `readable` and writes them to `writable`. What is written in one turn goes out
 * in one piece.
 */
export function lineChannel(readable, writable, { message, closed }, end) {
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
    if (bytes > maximumFrameBytes) fail(new StatewireError("a frame is too long"));
  });
  const fail = (error) => {
    end();
    closed(error);
  };
  for (const stream of [readable, writable]) {
    stream.on("error", fail);
    stream.on("close", () => fail(new StatewireError("the stream has ended")));
  }
  readable.on("end", () => fail(new StatewireError("the server has ended the stream")));

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

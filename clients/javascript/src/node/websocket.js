// SPDX-License-Identifier: Apache-2.0
//
// A WebSocket client (RFC 6455) for versions of Node without WebSocket, and for TLS options that Node's
// does not accept. Text messages only; no extensions, no subprotocols.

import { createHash, randomBytes } from "node:crypto";
import http from "node:http";
import https from "node:https";

import { ConnectionLostError, StatewireError } from "../errors.js";
import { maximumFrameBytes } from "./lines.js";
import { endSocket } from "./streams.js";

const opcodes = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 };

/** Connects to ws:// and wss:// URLs; the options are those of Node's `https.request`. */
export function webSocket(url, options = {}) {
  return (listener) =>
    new Promise((resolve, reject) => {
      const address = new URL(url);
      const key = randomBytes(16).toString("base64");
      address.protocol = address.protocol === "wss:" ? "https:" : "http:";
      const { request } = address.protocol === "https:" ? https : http;
      const upgrade = request(address, {
        ...options,
        agent: false,
        signal: listener.signal,
        headers: {
          ...options.headers,
          Connection: "Upgrade",
          Upgrade: "websocket",
          "Sec-WebSocket-Key": key,
          "Sec-WebSocket-Version": "13",
        },
      });
      upgrade.once("error", reject);
      upgrade.once("response", (response) => {
        response.destroy();
        reject(new ConnectionLostError(`the server refuses a WebSocket: HTTP status ${response.statusCode}`));
      });
      upgrade.once("upgrade", (response, stream, head) => {
        if (response.headers["sec-websocket-accept"] !== accepted(key)) {
          stream.destroy();
          return reject(new StatewireError("the server has sent an invalid WebSocket handshake"));
        }
        resolve(transport(stream.setNoDelay(true), head, listener));
      });
      upgrade.end();
    });
}

// RFC 6455 §4.2.2.
function accepted(key) {
  const guid = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
  return createHash("sha1").update(key + guid).digest("base64");
}

function transport(stream, head, { message, closed }) {
  let isOver = false;
  let flushing = [];
  const write = (opcode, payload) => {
    if (isOver) return;
    if (flushing.push(frame(opcode, payload)) === 1) queueMicrotask(flush);
  };
  const flush = () => {
    const bytes = Buffer.concat(flushing);
    flushing = [];
    if (bytes.length && stream.writable) stream.write(bytes);
  };
  const end = (error, code) => {
    if (isOver) return;
    if (code) write(opcodes.close, Buffer.from([code >> 8, code & 255]));
    flush();
    isOver = true;
    endSocket(stream);
    closed(error);
  };
  const reader = new FrameReader({
    text: message,
    ping: (payload) => write(opcodes.pong, payload),
    close: (payload) => {
      const code = payload.length >= 2 ? payload.readUInt16BE() : 1005;
      const reason = payload.subarray(2).toString();
      end(new ConnectionLostError(`the WebSocket was closed: ${code} ${reason}`), 1000);
    },
    fault: (text) => end(new StatewireError(text), 1002),
  });
  stream.on("data", (chunk) => isOver || reader.read(chunk));
  stream.on("error", (error) => end(error));
  stream.on("close", () => end(new ConnectionLostError("the connection has ended")));
  // Data that arrived with the handshake is read after the caller has the transport.
  if (head.length) stream.unshift(head);
  return {
    send: (text) => write(opcodes.text, Buffer.from(text)),
    close: () => end(new ConnectionLostError("the connection was closed"), 1000),
  };
}

/** Encodes a frame: unfragmented and masked (§5.3). */
function frame(opcode, payload) {
  const { length } = payload;
  const extra = length < 126 ? 0 : length < 65_536 ? 2 : 8;
  const bytes = Buffer.allocUnsafe(6 + extra + length);
  bytes[0] = 0x80 | opcode;
  bytes[1] = 0x80 | (extra === 0 ? length : extra === 2 ? 126 : 127);
  if (extra === 2) bytes.writeUInt16BE(length, 2);
  if (extra === 8) bytes.writeBigUInt64BE(BigInt(length), 2);
  const mask = randomBytes(4);
  mask.copy(bytes, 2 + extra);
  for (let i = 0, at = 6 + extra; i < length; i++, at++) bytes[at] = payload[i] ^ mask[i & 3];
  return bytes;
}

/** Parses frames from chunks of bytes; joins fragments to messages. */
class FrameReader {
  #bytes = Buffer.alloc(0);
  #pieces = [];
  #wanted = 2;
  #fragments = [];

  constructor(events) {
    this.events = events;
  }

  read(chunk) {
    this.#pieces.push(chunk);
    const held = this.#pieces.reduce((sum, piece) => sum + piece.length, 0);
    if (held < this.#wanted) return;
    this.#bytes = Buffer.concat(this.#pieces);
    while (this.#frame());
    this.#pieces = [this.#bytes];
  }

  /** Handles one frame, if it is complete. */
  #frame() {
    const bytes = this.#bytes;
    const need = (count) => ((this.#wanted = count), bytes.length >= count);
    if (!need(2)) return false;
    const isLast = (bytes[0] & 0x80) !== 0;
    const opcode = bytes[0] & 0x0f;
    let length = bytes[1] & 0x7f;
    if ((bytes[0] & 0x70) !== 0 || (bytes[1] & 0x80) !== 0) return this.#fail("a frame has reserved bits or a mask");
    const extra = length < 126 ? 0 : length === 126 ? 2 : 8;
    if (!need(2 + extra)) return false;
    if (extra === 2) length = bytes.readUInt16BE(2);
    if (extra === 8) length = Number(bytes.readBigUInt64BE(2));
    if (length > maximumFrameBytes) return this.#fail(`a frame is longer than ${maximumFrameBytes} bytes`);
    if (!need(2 + extra + length)) return false;
    const payload = bytes.subarray(2 + extra, 2 + extra + length);
    this.#bytes = bytes.subarray(2 + extra + length);
    this.#wanted = 2;
    return this.#take(opcode, payload, isLast);
  }

  #take(opcode, payload, isLast) {
    const isControl = opcode >= 8;
    if (isControl && (!isLast || payload.length > 125)) return this.#fail("a control frame is too long or fragmented");
    if (opcode === opcodes.ping) this.events.ping(payload);
    else if (opcode === opcodes.close) this.events.close(payload);
    else if (opcode === opcodes.text || opcode === opcodes.continuation) {
      if ((opcode === opcodes.continuation) !== this.#fragments.length > 0)
        return this.#fail("a fragment is out of order");
      if (isLast && opcode === opcodes.text) this.events.text(payload.toString());
      else {
        this.#fragments.push(payload);
        if (isLast) {
          const whole = Buffer.concat(this.#fragments);
          this.#fragments = [];
          this.events.text(whole.toString());
        }
      }
    } else if (opcode !== opcodes.pong) return this.#fail("a frame has an unknown opcode");
    return true;
  }

  #fail(text) {
    this.events.fault(text);
    return false;
  }
}

// SPDX-License-Identifier: Apache-2.0
//
// The WebSocket client of this package, with a server that sends given bytes.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { once } from "node:events";
import net from "node:net";
import { test } from "node:test";

import { webSocket } from "../src/node/websocket.js";

/** Dials; returns the transport, the received messages and the other end of the socket. */
async function dialled(body, { status = 101, accept } = {}) {
  const server = net.createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const connected = once(server, "connection").then(async ([socket]) => {
    let head = "";
    while (!head.includes("\r\n\r\n")) head += (await once(socket, "data"))[0];
    const key = /sec-websocket-key: (.*)\r\n/i.exec(head)[1];
    const hash = createHash("sha1").update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`);
    const lines = [`HTTP/1.1 ${status} X`, "Upgrade: websocket", "Connection: Upgrade"];
    lines.push(`Sec-WebSocket-Accept: ${accept ?? hash.digest("base64")}`);
    socket.write(`${lines.join("\r\n")}\r\n\r\n`);
    return socket;
  });
  const messages = [];
  let closed;
  const end = new Promise((resolve) => (closed = resolve));
  const listener = { message: (text) => messages.push(text), closed };
  const dial = webSocket(`ws://127.0.0.1:${server.address().port}/`)(listener);
  try {
    const socket = await connected;
    await body({ dial, socket, messages, end });
  } finally {
    (await connected).destroy();
    server.close();
  }
}

const frame = (first, payload) => {
  const { length } = payload;
  const size =
    length < 126 ? [length] : length < 65_536 ? [126, length >> 8, length & 255] : [127, 0, 0, 0, 0, 0, length >> 16, (length >> 8) & 255, length & 255];
  return Buffer.concat([Buffer.from([first, ...size]), Buffer.from(payload)]);
};
const text = (string) => frame(0x81, Buffer.from(string));

test("messages of all lengths arrive, whole or byte by byte", () =>
  dialled(async ({ dial, socket, messages }) => {
    await dial;
    const expected = ["", "ä", "a".repeat(125), "b".repeat(126), "c".repeat(65_535), "d".repeat(65_536)];
    socket.write(Buffer.concat(expected.map(text)));
    for (const byte of text("slow ä")) {
      socket.write(Buffer.from([byte]));
      await new Promise(setImmediate);
    }
    while (messages.length < 7) await new Promise(setImmediate);
    assert.deepEqual(messages, [...expected, "slow ä"]);
  }));

test("fragments become one message; pings between them get a pong", () =>
  dialled(async ({ dial, socket, messages }) => {
    await dial;
    const pieces = [frame(0x01, Buffer.from([0xc3])), frame(0x89, Buffer.from("hi")), frame(0x80, Buffer.from([0xa4]))];
    socket.write(Buffer.concat(pieces));
    const [pong] = await once(socket, "data");
    assert.equal(pong[0], 0x8a);
    const mask = pong.subarray(2, 6);
    assert.deepEqual([...pong.subarray(6)].map((byte, i) => byte ^ mask[i & 3]), [...Buffer.from("hi")]);
    assert.deepEqual(messages, ["ä"]);
  }));

test("sent frames are masked and have the right length field", () =>
  dialled(async ({ dial, socket }) => {
    const transport = await dial;
    for (const length of [5, 126, 70_000]) {
      transport.send("x".repeat(length));
      const extra = length < 126 ? 0 : length < 65_536 ? 2 : 8;
      let bytes = Buffer.alloc(0);
      while (bytes.length < 6 + extra + length) bytes = Buffer.concat([bytes, (await once(socket, "data"))[0]]);
      assert.equal(bytes[0], 0x81);
      assert.equal(bytes[1] & 0x80, 0x80);
      const mask = bytes.subarray(2 + extra, 6 + extra);
      const payload = bytes.subarray(6 + extra).map((byte, i) => byte ^ mask[i & 3]);
      assert.equal(payload.toString(), "x".repeat(length));
    }
  }));

for (const [violation, bytes] of Object.entries({
  "a masked frame": [0x81, 0x80, 0, 0, 0, 0],
  "a reserved bit": [0xc1, 0x00],
  "an unknown opcode": [0x83, 0x00],
  "a fragment without a beginning": [0x80, 0x00],
  "a message within fragments": [0x01, 0x00, 0x81, 0x00],
  "a ping in pieces": [0x09, 0x00],
  "a frame without end": [0x81, 0x7f, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
}))
  test(`${violation} ends the connection`, () =>
    dialled(async ({ dial, socket, end }) => {
      await dial;
      socket.write(Buffer.from(bytes));
      assert.equal((await end).name, "StatewireError");
    }));

test("a close frame gets a close frame, and its reason is reported", () =>
  dialled(async ({ dial, socket, end }) => {
    await dial;
    socket.write(frame(0x88, Buffer.concat([Buffer.from([0x03, 0xe9]), Buffer.from("going")])));
    const [response] = await once(socket, "data");
    assert.equal(response[0], 0x88);
    assert.match((await end).message, /1001 going/);
  }));

test("a server that is not a WebSocket server is refused", async () => {
  await dialled(({ dial }) => assert.rejects(dial, /invalid WebSocket handshake/), { accept: "wrong" });
  await dialled(({ dial }) => assert.rejects(dial, /status 404/), { status: 404 });
});

// SPDX-License-Identifier: Apache-2.0
//
// Dead connections.

import assert from "node:assert/strict";
import { test } from "node:test";

import { connect } from "../node.js";
import { Liveness } from "../src/liveness.js";
import { Listening, project, serve } from "./support/server.js";

/** Returns the decisions of `count` beats; `heard` are the beats before which a message arrives. */
function beats(count, { isAwaiting = false, heard = [] } = {}) {
  const liveness = new Liveness();
  return Array.from({ length: count }, (_, beat) => {
    if (heard.includes(beat)) liveness.received();
    return liveness.beat(isAwaiting);
  }).join(" ");
}

test("an idle server is pinged after one interval and dropped three beats later", () => {
  assert.equal(beats(7), "wait wait wait ping wait wait dead");
});

test("with a pending response, the server is pinged after half an interval", () => {
  assert.equal(beats(5, { isAwaiting: true }), "wait ping wait wait dead");
});

test("any message resets the silence, also after a ping", () => {
  assert.equal(beats(8, { heard: [3] }), "wait wait wait wait wait wait ping wait");
  assert.equal(beats(8, { heard: [6] }), "wait wait wait ping wait wait wait wait");
});

for (const wire of ["tcp", "web"])
  test(`a half-open connection is detected while idle and while an input is pending: ${wire}`, async () => {
    const server = await serve(`--${wire}`, "127.0.0.1:0");
    const proxy = await Listening.start(
      `${project}clients/conformance/slow-proxy`,
      [server.address, "--delay", "0.01", "--jitter", "0"],
      { stream: "stdout" },
    );
    const scheme = wire === "tcp" ? "tcp" : "ws";
    const client = connect(`${scheme}://${proxy.address}`, {
      pingInterval: 200,
      backoff: { base: 2, maximum: 50 },
    });
    const lost = () =>
      new Promise((resolve) => {
        const stop = client.on("status", ({ state }) => state === "reconnecting" && resolve(stop()));
      });
    try {
      const config = { memory: { count: 0 } };
      const store = client.store("list", { kind: "todo", config });
      store.subscribe(() => {});
      await store.send({ type: "stateRequested" });
      const noticed = lost();
      proxy.process.stdin.write("vanish\n");
      await noticed;
      await client.connected();
      await store.verify();

      const noticedAgain = lost();
      proxy.process.stdin.write("vanish\n");
      while (proxy.lines.filter((line) => line.includes("vanish")).length < 2)
        await new Promise((resolve) => setTimeout(resolve, 1));
      await store.send({ type: "todoAdded", title: "Milk" });
      await noticedAgain;
      assert.deepEqual(store.state.todos.map(({ title }) => title), ["Milk"]);
    } finally {
      client.close();
      await proxy.stop();
      await server.stop();
    }
  });

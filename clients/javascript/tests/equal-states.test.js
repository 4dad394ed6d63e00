// SPDX-License-Identifier: Apache-2.0
//
// No subscriber and no iteration gets a state that equals the previous one.

import assert from "node:assert/strict";
import { test } from "node:test";

import { Client } from "../index.js";
import { equal } from "../src/equal.js";
import { SimulatedServer, settled } from "./support/simulated-server.js";

const later = SimulatedServer.later;

/** Runs a test with a subscriber, which records the states in `drawn`. */
function story(name, body) {
  test(name, async () => {
    const server = new SimulatedServer();
    const client = new Client(server.dial, { frontend: "page", pingInterval: 0, backoff: { base: 1, maximum: 2 } });
    try {
      await client.connected();
      const store = client.store("s");
      const drawn = [];
      store.subscribe((state) => drawn.push(state));
      await settled();
      await body({ server, client, store, drawn });
    } finally {
      client.close();
    }
  });
}

const reconnected = (client) =>
  new Promise((resolve) => {
    const stop = client.on("status", ({ state }) => state === "connected" && resolve(stop()));
  });

story("a snapshot after a lost connection is not repeated if it is equal", async ({ server, client, store, drawn }) => {
  const before = store.state;
  server.on["session/attach"] = () => ({
    stores: { s: { snapshot: { revision: 7, state: { n: 0 } }, reason: "trimmed" } },
    sequence: 0,
  });
  server.connection.cut();
  await reconnected(client);
  assert.deepEqual([drawn, store.revision], [[{ n: 0 }], 7]);
  assert.equal(store.state, before, "the object is the same");
});

story("the equal state of a new session is not repeated", async ({ server, client, store, drawn }) => {
  server.on["session/attach"] = () => {
    throw { code: -32013 };
  };
  server.connection.cut();
  await reconnected(client);
  assert.deepEqual(store.state, { n: 0 }, "the last state remains until the next one arrives");
  await settled();
  assert.deepEqual([drawn, store.state], [[{ n: 0 }], { n: 0 }]);
});

story("updates that change nothing are not reported", async ({ server, store, drawn }) => {
  server.change(0, { patch: [] });
  server.change(0, { patch: [{ op: "replace", path: "/n", value: 0 }] });
  server.change(0, { patch: undefined, state: { n: 0 } });
  assert.deepEqual([drawn, store.revision], [[{ n: 0 }], 3]);
});

story("an optimistic update that returns an endless value ends no connection", async ({ server, client, store, drawn }) => {
  // The comparison with the one before failed while an update was read.
  server.on["store/send"] = () => later;
  const endless = () => {
    const state = { n: 5, list: [] };
    state.list.push(state, state);
    return state;
  };
  const states = store.states();
  await states.next();
  const aborter = new AbortController();
  const sent = store.send({ type: "set" }, { optimistic: endless, signal: aborter.signal });
  assert.equal((await states.next()).value.n, 5);
  server.change(1);
  server.change(2);
  assert.equal((await states.next()).value.n, 5);
  aborter.abort();
  await assert.rejects(sent);
  assert.deepEqual(store.state, { n: 2 });
  assert.deepEqual((await states.next()).value, { n: 2 });
  assert.deepEqual([drawn.map(({ n }) => n), client.status.state, server.connections.length], [[0, 5, 5, 5, 2], "connected", 1]);
  await states.return();
});

story("a right optimistic update is reported once", async ({ server, store, drawn }) => {
  let id;
  server.on["store/send"] = (params, connection, number) => ((id = number), later);
  const sent = store.send({ type: "set" }, { optimistic: () => ({ n: 5 }) });
  await settled();
  assert.equal(store.isOptimistic, true);
  server.change(5);
  server.connection.respond(id, { revision: 1, changed: true });
  await sent;
  assert.deepEqual([drawn, store.isOptimistic], [[{ n: 0 }, { n: 5 }], false]);
});

story("a slow iteration does not get the same state again", async ({ server, store }) => {
  const states = store.states();
  assert.deepEqual((await states.next()).value, { n: 0 });
  const next = states.next();
  await settled();
  server.change(1);
  server.change(0);
  await settled();
  server.change(2);
  assert.deepEqual((await next).value, { n: 2 });
});

story("a late subscriber gets the current state", async ({ store }) => {
  const drawn = [];
  store.subscribe((state) => drawn.push(state));
  assert.deepEqual(drawn, [{ n: 0 }]);
});

test("JSON values are compared as JSON", () => {
  const same = [[1, 1], [null, null], [[], []], [{ a: 1, b: [2] }, { b: [2], a: 1 }]];
  const different = [
    [1, true], [0, false], ["1", 1], [null, {}], [{}, []], [[1], [1, 1]], [{ a: 1 }, { b: 1 }], [{ a: null }, {}],
    [{ a: 1 }, { a: 1, b: 1 }], [{ constructor: null }, { x: null }],
  ];
  for (const [a, b] of same) assert.ok(equal(a, b) && equal(b, a), JSON.stringify([a, b]));
  for (const [a, b] of different) assert.ok(!equal(a, b) && !equal(b, a), JSON.stringify([a, b]));
});

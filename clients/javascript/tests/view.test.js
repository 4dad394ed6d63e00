// SPDX-License-Identifier: Apache-2.0
//
// Tests of the common part of the bindings, and of the contract of Svelte stores:
// https://svelte.dev/docs/svelte/stores. Tests with the libraries, in a browser, are in
// Tests/Bindings.

import assert from "node:assert/strict";
import { test } from "node:test";

import { Client, OtherConfigurationError, SessionEndedError, StoreClosedError } from "../index.js";
import { StoreView, viewKey } from "../src/view.js";
import { useStore } from "../svelte.js";
import { SimulatedServer, settled } from "./support/simulated-server.js";

const later = SimulatedServer.later;

function story(name, body) {
  test(name, async () => {
    const server = new SimulatedServer();
    const client = new Client(server.dial, { frontend: "page", pingInterval: 0, backoff: { base: 1, maximum: 2 } });
    try {
      await client.connected();
      await body({ server, client });
    } finally {
      client.close();
    }
  });
}

/** Subscribes to a view and records its values. */
function watched(view) {
  const values = [];
  const stop = view.subscribe(() => values.push(view.current()));
  return { values, stop };
}

story("views of one store share one subscription, which ends with the last", async ({ server, client }) => {
  const first = watched(new StoreView(client, "s"));
  const second = watched(new StoreView(client, "s"));
  await settled();
  assert.deepEqual([first.values, second.values].map((values) => values.at(-1).state), [{ n: 0 }, { n: 0 }]);
  first.stop();
  await settled();
  assert.equal(server.of("store/unsubscribe").length, 0);
  second.stop();
  await settled();
  assert.equal(server.of("store/subscribe").length, 1);
  assert.equal(server.of("store/unsubscribe").length, 1);
});

story("a view that unsubscribes and subscribes immediately keeps the subscription and the state", async ({ server, client }) => {
  const view = new StoreView(client, "s");
  const before = watched(view);
  await settled();
  before.stop();
  const after = watched(view);
  assert.deepEqual(view.current().state, { n: 0 });
  await settled();
  assert.equal(server.of("store/subscribe").length, 1);
  assert.equal(server.of("store/unsubscribe").length, 0);
  server.change(1);
  assert.deepEqual(after.values.at(-1).state, { n: 1 });
  assert.equal(before.values.at(-1).state.n, 0);
});

story("making and reading a view sends nothing", async ({ server, client }) => {
  const before = server.received.length;
  assert.equal(new StoreView(client, "s", { kind: "todo" }).current().state, undefined);
  await settled();
  assert.equal(server.received.length, before);
});

story("the value is the same object until something changes", async ({ server, client }) => {
  const view = new StoreView(client, "s");
  const { values } = watched(view);
  await settled();
  assert.equal(view.current(), view.current());
  const count = values.length;
  server.change(0, { patch: [] });
  assert.equal(values.length, count);
  server.change(1);
  assert.equal(values.length, count + 1);
  assert.ok(Object.isFrozen(values.at(-1)));
});

story("the value shows whether the state is optimistic", async ({ server, client }) => {
  const view = new StoreView(client, "s");
  watched(view);
  await settled();
  let id;
  server.on["store/send"] = (params, connection, number) => ((id = number), later);
  const sent = view.current().send({ type: "set" }, { optimistic: () => ({ n: 5 }) });
  await settled();
  assert.deepEqual([view.current().state, view.current().isOptimistic], [{ n: 5 }, true]);
  server.change(5);
  server.connection.respond(id, { revision: 1, changed: true });
  await sent;
  assert.deepEqual([view.current().state, view.current().isOptimistic], [{ n: 5 }, false]);
});

story("a store that cannot be opened shows the error, and can be tried again", async ({ server, client }) => {
  server.on["store/open"] = server.on["store/subscribe"] = () => {
    throw { code: -32602, message: "no such list" };
  };
  const view = new StoreView(client, "s", { kind: "todo" });
  const { values } = watched(view);
  await settled();
  assert.equal(view.current().error.message, "no such list");
  assert.equal(view.current().state, undefined);
  server.on["store/open"] = () => ({ revision: 0 });
  server.on["store/subscribe"] = () => ({ revision: 0, state: { n: 3 } });
  view.current().retry();
  await settled();
  assert.deepEqual([values.at(-1).error, values.at(-1).state], [undefined, { n: 3 }]);
});

story("a closed store and a closed client show the reason", async ({ server, client }) => {
  const closed = watched(new StoreView(client, "s"));
  const open = watched(new StoreView(client, "t"));
  await settled();
  server.connection.notify("store/closed", { store: "s", reason: "closed" });
  assert.ok(closed.values.at(-1).error instanceof StoreClosedError);
  client.close();
  assert.ok(open.values.at(-1).error instanceof SessionEndedError);
  assert.equal(open.values.at(-1).status.state, "closed");
  const late = new StoreView(client, "s");
  late.subscribe(() => {});
  assert.ok(late.current().error instanceof SessionEndedError);
});

story("the state remains while the client reconnects", async ({ server, client }) => {
  const view = new StoreView(client, "s");
  const { values } = watched(view);
  await settled();
  const back = new Promise((resolve) => client.on("status", ({ state }) => state === "connected" && resolve()));
  server.connection.cut();
  await settled();
  assert.equal(view.current().status.state, "reconnecting");
  assert.deepEqual(view.current().state, { n: 0 });
  await back;
  assert.equal(values.at(-1).status.state, "connected");
  assert.ok(values.every(({ state }, at) => at === 0 || state?.n === 0));
});

story("without a client a view is connecting, and its send fails", async () => {
  const view = new StoreView(undefined, "s");
  view.subscribe(() => {});
  assert.deepEqual([view.current().status, view.current().state], [{ state: "connecting" }, undefined]);
  await assert.rejects(view.current().send({ type: "add" }), /no client/);
});

story("another configuration under a name in use is an error of the second user", async ({ server, client }) => {
  const config = { memory: { count: 1 } };
  const first = watched(new StoreView(client, "s", { kind: "todo", config }));
  const same = watched(new StoreView(client, "s", { kind: "todo", config: { memory: { count: 1 } } }));
  const other = new StoreView(client, "s", { kind: "todo", config: { memory: { count: 2 } } });
  const stopOther = other.subscribe(() => {});
  await settled();
  assert.deepEqual([first, same].map(({ values }) => values.at(-1).state), [{ n: 0 }, { n: 0 }]);
  assert.ok(other.current().error instanceof OtherConfigurationError);
  await assert.rejects(other.current().send({ type: "add" }), OtherConfigurationError);
  assert.equal(server.of("store/open").length, 1);
  // When the first one has no users, the server decides.
  for (const { stop } of [first, same, { stop: stopOther }]) stop();
  other.subscribe(() => {});
  await settled();
  assert.deepEqual(server.of("store/open").at(-1).config, { memory: { count: 2 } });
  assert.deepEqual(other.current().state, { n: 0 });
  server.change(4);
  assert.deepEqual(other.current().state, { n: 4 });
});

story("the server's refusal of another configuration is an error, not the other store", async ({ server, client }) => {
  server.on["store/open"] = () => {
    throw { code: -32018, message: "open with another configuration" };
  };
  const view = new StoreView(client, "s", { kind: "todo" });
  view.subscribe(() => {});
  await settled();
  assert.ok(view.current().error instanceof OtherConfigurationError);
  assert.equal(view.current().state, undefined);
  assert.equal(server.of("store/unsubscribe").length, 1);
});

story("components that change their configuration together share the new one", async ({ server, client }) => {
  const make = (count) => new StoreView(client, "s", { kind: "todo", config: { memory: { count } } });
  const before = [make(1), make(1)].map(watched);
  await settled();
  // React renders both, then ends the old subscriptions, then begins the new ones.
  const after = [make(2), make(2)];
  for (const view of after) assert.equal(view.current().error, undefined);
  for (const { stop } of before) stop();
  for (const view of after) view.subscribe(() => {});
  await settled();
  assert.deepEqual(after.map((view) => view.current().state), [{ n: 0 }, { n: 0 }]);
  assert.equal(server.of("store/open").length, 2);
  assert.equal(server.of("store/unsubscribe").length, 1);
});

test("the key of a view depends on values, not on objects", () => {
  const key = (config) => viewKey("a", { kind: "todo", config });
  assert.equal(key({ a: 1, b: undefined }), key({ a: 1 }));
  assert.notEqual(key({ a: 1 }), key({ a: 2 }));
  assert.notEqual(viewKey("a"), viewKey("b"));
});

story("a Svelte store calls back immediately, and ends with its last subscriber", async ({ server, client }) => {
  const store = useStore(client, "s");
  const values = [];
  const stop = store.subscribe((value) => values.push(value));
  assert.equal(values.length, 1, "during subscribe");
  assert.equal(values[0].state, undefined);
  const stopSecond = store.subscribe(() => {});
  await settled();
  assert.deepEqual(values.map(({ state }) => state?.n), [undefined, 0]);
  server.change(1);
  assert.deepEqual(values.map(({ state }) => state?.n), [undefined, 0, 1]);
  // As `get` of svelte/store.
  let now;
  store.subscribe((value) => (now = value))();
  assert.deepEqual(now.state, { n: 1 });
  stop();
  server.change(2);
  assert.equal(values.length, 3);
  stopSecond();
  await settled();
  assert.equal(server.of("store/unsubscribe").length, 1);
});

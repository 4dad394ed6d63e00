// SPDX-License-Identifier: Apache-2.0

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { inspect } from "node:util";

import {
  RequestCancelledError,
  Client,
  SessionEndedError,
  connect,
  ConnectionLostError,
  InvalidParamsError,
  LimitError,
  OtherConfigurationError,
  TooManyPendingError,
  ParseError,
  RPCError,
  ExpiredSessionError,
  StatewireError,
  TimedOutError,
  UnauthorisedError,
  printable,
} from "../index.js";
import { SimulatedServer, settled } from "./support/simulated-server.js";

const later = SimulatedServer.later;

/** Runs a test with a client of a simulated server. */
function story(name, body, options) {
  test(name, async () => {
    const server = new SimulatedServer();
    const client = new Client(server.dial, {
      frontend: "page",
      pingInterval: 0,
      backoff: { base: 1, maximum: 2 },
      ...options,
    });
    try {
      await client.connected();
      await body({ server, client, store: client.store("s") });
    } finally {
      client.close();
    }
  });
}

const reconnected = (client) =>
  new Promise((resolve) => {
    const stop = client.on("status", ({ state }) => state === "connected" && resolve(stop()));
  });

story("a subscriber gets the current state and each later one", async ({ server, store }) => {
  const states = [];
  const stop = store.subscribe((state) => states.push(state.n));
  await settled();
  server.change(1);
  server.change(2);
  assert.deepEqual(states, [0, 1, 2]);
  stop();
  await settled();
  assert.equal(server.of("store/unsubscribe").length, 1);
  assert.equal(store.state, undefined);
});

story("a slow consumer gets only the latest state", async ({ server, store }) => {
  const states = store.states();
  assert.deepEqual((await states.next()).value, { n: 0 });
  for (let n = 1; n <= 1000; n++) server.change(n);
  assert.deepEqual((await states.next()).value, { n: 1000 });
  server.change(1001);
  assert.deepEqual((await states.next()).value, { n: 1001 });
  await states.return();
  await settled();
  assert.equal(server.of("store/unsubscribe").length, 1);
});

test("a callback that fails affects nothing else", () => {
  // A listener of a view that threw kept the next ones from being called.
  const program = `
    import { Client } from "${new URL("../index.js", import.meta.url)}";
    import { StoreView } from "${new URL("../src/view.js", import.meta.url)}";
    import { SimulatedServer, settled } from "${new URL("support/simulated-server.js", import.meta.url)}";
    const reported = [];
    for (const event of ["unhandledRejection", "uncaughtException"]) process.on(event, ({ message }) => reported.push(message));
    const server = new SimulatedServer();
    const client = new Client(server.dial, { pingInterval: 0 });
    const calls = [];
    const callbacks = (name) => [
      () => { throw new Error(name); },
      async () => { throw new Error("async " + name); },
      () => calls.push(name),
    ];
    for (const listener of callbacks("status")) client.on("status", listener);
    await client.connected();
    const store = client.store("s");
    const view = new StoreView(client, "s");
    for (const listener of callbacks("ended")) store.subscribe(() => {}, listener);
    for (const listener of callbacks("state")) store.subscribe(listener);
    for (const listener of callbacks("event")) store.onEvent(listener);
    for (const listener of callbacks("view")) view.subscribe(listener);
    for (const optimistic of callbacks("optimistic").slice(0, 1)) await store.send({}, { optimistic });
    await settled();
    server.connection.notify("store/event", { store: "s", event: {} });
    server.change(1);
    server.connection.notify("store/closed", { store: "s" });
    // Node reports them later.
    for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve));
    console.log(JSON.stringify([calls, [...new Set(reported)].sort(), server.connections.length, client.status.state]));
    process.exit();`;
  const done = spawnSync(process.execPath, ["--input-type=module", "-e", program], { encoding: "utf8" });
  const names = ["ended", "event", "optimistic", "state", "status", "view"];
  const failed = names.flatMap((name) => (name === "optimistic" ? [name] : [`async ${name}`, name]));
  const [calls, reported, connections, state] = JSON.parse(done.stdout);
  assert.deepEqual([[...new Set(calls)].sort(), reported, connections, state], [
    names.filter((name) => name !== "optimistic"), failed.sort(), 1, "connected"]);
});

story("a waiting iteration can be aborted", async ({ store }) => {
  const aborter = new AbortController();
  const states = store.states({ signal: aborter.signal });
  await states.next();
  const next = states.next();
  aborter.abort();
  assert.equal((await next).done, true);
});

story("earlier states do not change", async ({ server, store }) => {
  const states = [];
  store.subscribe((state) => states.push(state));
  await settled();
  server.change(1);
  assert.deepEqual(states, [{ n: 0 }, { n: 1 }]);
});

story("an optimistic update is applied immediately and ends with the result", async ({ server, store }) => {
  const drawn = [];
  store.subscribe((state) => drawn.push(state.n));
  await settled();
  let id;
  server.on["store/send"] = (params, connection, number) => ((id = number), later);
  const response = store.send({ type: "set" }, { optimistic: (state) => ({ n: state.n + 10 }) });
  assert.equal(store.state.n, 10);
  await settled();
  assert.equal(server.of("store/send")[0].settle, true);
  server.change(1);
  assert.equal(store.state.n, 11, "it is drawn on top of each new state");
  assert.equal(store.confirmed.n, 1);
  server.change(10);
  server.connection.respond(id, { revision: 2, changed: true });
  await response;
  assert.deepEqual(drawn, [0, 10, 11, 20, 10]);
});

story("without settle, an optimistic update ends with the update that applies its input", async ({ server, store }) => {
  store.subscribe(() => {});
  await settled();
  let id;
  server.on["store/send"] = (params, connection, number) => ((id = number), later);
  store.send({ type: "set" }, { settle: false, optimistic: () => ({ n: 5 }) }).catch(() => {});
  await settled();
  server.change(1);
  assert.equal(store.state.n, 5);
  server.change(4, { applied: id });
  assert.equal(store.state.n, 4);
});

story("an optimistic update is removed when the server refuses its input", async ({ server, store }) => {
  store.subscribe(() => {});
  await settled();
  server.on["store/send"] = () => {
    throw { code: -32602, data: { path: "/input/title" } };
  };
  const response = store.send({ type: "set" }, { optimistic: () => ({ n: 9 }) });
  assert.equal(store.state.n, 9);
  await assert.rejects(response, (error) => {
    assert.ok(error instanceof InvalidParamsError);
    assert.equal(error.path, "/input/title");
    return true;
  });
  assert.equal(store.state.n, 0);
});

story("an error without a class of its own keeps its code and data", async ({ server, client }) => {
  server.on["ping"] = () => {
    throw { code: -1, message: "new", data: { a: 1 } };
  };
  await assert.rejects(client.request("ping"), (error) => {
    assert.deepEqual([error.constructor, error.code, error.data], [RPCError, -1, { a: 1 }]);
    return true;
  });
});

story("error messages can be printed to a terminal", async ({ server, client }) => {
  server.on["ping"] = () => {
    throw { code: -32603, message: "a\x1b]2;b\x07\x9b\u202e", data: { stack: "\x1b[2J", message: "\x1b[2J" } };
  };
  await assert.rejects(client.request("ping"), (error) => {
    assert.equal(error.message, "a␛]2;b␇��");
    assert.doesNotMatch(inspect(error), /[\x1b\x9b\u202e]/);
    return true;
  });
  const waiting = new Promise((resolve) =>
    client.on("status", ({ state, error }) => state === "reconnecting" && resolve(error)),
  );
  server.connection.raw("\x1b[2J");
  assert.doesNotMatch(inspect(await waiting), /[\x1b\x9b\u202e]/);
});

test("control characters are replaced one for one", () => {
  const text = "\0\t\n\r\x1b\x7f\x80\x85\x9f\u061c\u200e\u200f\u2028\u2029\u202a\u202e\u2066\u2069";
  assert.equal(printable(text), "␀␉␊␍␛␡�␤����␤�����");
  const plain = "Käse 🧀 日本 \u00a0\u200d\u2030";
  assert.equal(printable(plain), plain);
});

story("pending inputs are sent again, in order, with their sequence numbers", async ({ server, client, store }) => {
  server.on["store/send"] = () => later;
  const responses = [1, 2, 3].map((n) => store.send({ type: "add", n }));
  await settled();
  server.on["store/send"] = ({ sequence }) => ({ revision: sequence, changed: false });
  server.accepted = 2;
  server.connection.cut();
  assert.deepEqual(await Promise.all(responses), [1, 2, 3].map((revision) => ({ revision, changed: false })));
  const sent = server.of("store/send").map(({ sequence, input }) => [sequence, input.n]);
  assert.deepEqual(sent.slice(3), [[1, 1], [2, 2], [3, 3]]);
  assert.deepEqual(server.of("session/attach"), [{ session: "handle", frontend: "page", revisions: {} }]);
  await store.send({ type: "add", n: 4 });
  assert.equal(server.of("store/send").at(-1).sequence, 4);
  assert.equal(client.pending, 0);
});

story("an input has the span of its caller, also when it is sent again", async ({ server, store }) => {
  const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  server.on["store/send"] = () => later;
  const response = store.send({ type: "add" }, { traceparent });
  await settled();
  server.on["store/send"] = () => ({ revision: 1, changed: true });
  server.connection.cut();
  await response;
  await store.send({ type: "add" });
  assert.deepEqual(server.of("store/send").map((params) => params.traceparent), [traceparent, traceparent, undefined]);
});

story("a returning frontend continues after the last accepted sequence number", async ({ server, client, store }) => {
  server.accepted = 41;
  server.connection.cut();
  await reconnected(client);
  await store.send({ type: "add" });
  assert.equal(server.of("store/send").at(-1).sequence, 42);
});

story("pending inputs of a frontend without a name fail with the connection", async ({ server, client, store }) => {
  server.on["store/send"] = () => later;
  const response = store.send({ type: "add" });
  await settled();
  server.connection.cut();
  await assert.rejects(response, ConnectionLostError);
  assert.equal(server.of("store/send")[0].sequence, undefined);
  await reconnected(client);
}, { frontend: null });

// The server waits for the sequence number of an input that it has refused temporarily. Until then it
// refuses higher numbers.
story("rate-limited inputs are sent again in order", async ({ server, store }) => {
  let place;
  let refusals = 0;
  const applied = [];
  server.on["store/send"] = ({ sequence, input }) => {
    if (place !== undefined && sequence > place) throw { code: -32019, data: { sequence: place } };
    if (input.n % 3 === 0 && refusals++ < 4) {
      place = sequence;
      throw { code: -32015, data: { limit: "inputsPerSecond" } };
    }
    place = undefined;
    assert.ok(sequence > server.accepted, "a number comes twice");
    server.accepted = sequence;
    applied.push(input.n);
    return { revision: 0, changed: false };
  };
  const numbers = Array.from({ length: 12 }, (_, n) => n + 1);
  const first = numbers.slice(0, 8).map((n) => store.send({ type: "add", n }));
  await settled();
  const rest = numbers.slice(8).map((n) => store.send({ type: "add", n }));
  await Promise.all([...first, ...rest]);
  assert.equal(refusals > 3, true);
  assert.deepEqual(applied, numbers);
});

story("the next input takes the sequence number of a cancelled one", async ({ server, store }) => {
  let place;
  server.on["store/send"] = ({ sequence, input }) => {
    if (place !== undefined && sequence > place) throw { code: -32019, data: { sequence: place } };
    if (input.n === 1) {
      place = sequence;
      throw { code: -32015, data: { limit: "openRequests" } };
    }
    place = undefined;
    return { revision: sequence, changed: true };
  };
  const aborter = new AbortController();
  const given = store.send({ type: "add", n: 1 }, { signal: aborter.signal });
  const next = store.send({ type: "add", n: 2 });
  await settled();
  aborter.abort();
  await assert.rejects(given, RequestCancelledError);
  assert.deepEqual(await next, { revision: 1, changed: true });
});

story("other limits are reported to the sender", async ({ server, store }) => {
  server.on["store/send"] = () => {
    throw { code: -32015, data: { limit: "titleBytes", path: "/input/title" } };
  };
  await assert.rejects(store.send({ type: "add" }), (error) => {
    assert.ok(error instanceof LimitError);
    assert.deepEqual([error.limit, error.path], ["titleBytes", "/input/title"]);
    return true;
  });
});

story("a frame above a reported limit is not sent and uses no sequence number", async ({ server, client, store }) => {
  const text = (bytes) => store.send({ type: "add", text: "é" + "a".repeat(bytes - 2) });
  server.limits = { frameBytes: 1000, nesting: 5 };
  server.connection.cut();
  await reconnected(client);
  await text(500);
  const rest = server.lengths.at(-1) - 500;
  await text(1000 - rest);
  assert.equal(server.lengths.at(-1), 1000);
  const refused = async (response, limit) =>
    assert.rejects(response, (error) => {
      assert.ok(error instanceof LimitError);
      assert.deepEqual([error.code, error.data], [-32015, { limit }]);
      return true;
    });
  await refused(text(1001 - rest), "frameBytes");
  await refused(client.request("ping", { text: "a".repeat(1000) }), "frameBytes");
  // The message, its params and the input have three levels.
  const deep = (list) => store.send({ type: "add", list });
  await deep([[]]);
  await refused(deep([[[]]]), "nesting");
  await deep([]);
  assert.deepEqual(server.of("store/send").map(({ sequence }) => sequence), [1, 2, 3, 4]);
  assert.equal(client.pending, 0);
});

// For each limit: three inputs, the second of which exceeds it.
const beyond = {
  frameBytes: ["a", "a".repeat(100), "a".repeat(10)],
  nesting: [[], [[[]]], [["a".repeat(100)]]],
};
for (const [limit, values] of Object.entries(beyond))
  story(`a refused frame fails its request: ${limit}`, async ({ server, client, store }) => {
    server.on["store/send"] = () => later;
    const [first, second, third] = values.map((value) => store.send({ type: "add", value }));
    await settled();
    server.connection.refuse(null, { code: -32015, data: { limit } });
    await assert.rejects(second, (error) => error instanceof LimitError && error.limit === limit);
    server.received = [];
    server.on["store/send"] = ({ sequence }) => ({ revision: sequence, changed: false });
    server.connection.cut();
    assert.deepEqual((await first).revision, 1);
    assert.deepEqual((await third).revision, 3);
    assert.deepEqual(server.of("store/send").map(({ sequence }) => sequence), [1, 3]);
    assert.equal(client.status.error, undefined);
  });

story("an unparseable frame ends the requests without a response", async ({ server, store }) => {
  server.on["store/send"] = () => later;
  const lost = store.send({ type: "lost" });
  const slow = store.send({ type: "slow" }, { settle: true });
  await settled();
  server.connection.refuse(null, { code: -32700 });
  server.on["store/send"] = ({ sequence }) => ({ revision: sequence, changed: false });
  assert.equal((await store.send({ type: "next" })).revision, 3);
  await assert.rejects(lost, ParseError);
  // The error can belong only to this request now.
  server.connection.refuse(null, { code: -32700 });
  await assert.rejects(slow, ParseError);
});

story("an input that is not JSON is refused and does not block later ones", async ({ server, client, store }) => {
  const circular = { type: "add" };
  circular.self = circular;
  server.isDown = true;
  server.connection.cut();
  await assert.rejects(store.send({ type: "add", n: 1n }), TypeError);
  await assert.rejects(store.send(circular), TypeError);
  const next = store.send({ type: "add" });
  const asked = assert.rejects(client.request("ping", { n: 1n }), TypeError);
  server.isDown = false;
  client.reconnect();
  await next;
  await asked;
  assert.equal(server.of("store/send").length, 1);
});

story("an input is copied when it is sent", async ({ server, client, store }) => {
  server.isDown = true;
  server.connection.cut();
  const input = { type: "add" };
  const responses = [1, 2, 3].map((n) => store.send(Object.assign(input, { n })));
  server.isDown = false;
  client.reconnect();
  await Promise.all(responses);
  assert.deepEqual(server.of("store/send").map(({ input: { n } }) => n), [1, 2, 3]);
});

// Reason: an input was reported as accepted although another input had used its number.
story("inputs keep accepted sequence numbers", async ({ server, client, store }) => {
  server.on["store/send"] = ({ input }) => (input.n === 2 ? { revision: 0, changed: false } : later);
  const responses = [1, 2, 3, 4].map((n) => store.send({ type: "add", n }));
  await responses[1];
  server.accepted = 3;
  let place;
  let refusals = 0;
  const applied = [];
  server.on["store/send"] = ({ sequence, input: { n } }) => {
    if (place !== undefined && sequence > place) throw { code: -32019, data: { sequence: place } };
    place = undefined;
    if (refusals++ === 0) {
      place = sequence;
      throw { code: -32015, data: { limit: "openRequests" } };
    }
    if (sequence > server.accepted) {
      server.accepted = sequence;
      applied.push(n);
    }
    return { revision: sequence, changed: false };
  };
  server.connection.cut();
  await Promise.all(responses);
  assert.deepEqual(applied, [4]);
  await store.send({ type: "add", n: 5 });
  assert.deepEqual(applied, [4, 5]);
});

story("an accepted input that is cancelled while it is refused does not block later ones", async ({ server, store }) => {
  server.on["store/send"] = () => later;
  const aborter = new AbortController();
  const given = store.send({ type: "add", n: 1 }, { signal: aborter.signal });
  const next = store.send({ type: "add", n: 2 });
  await settled();
  server.accepted = 1;
  const places = new Map();
  server.on["store/send"] = ({ sequence }, connection) => {
    const place = places.get(connection);
    if (place < sequence) throw { code: -32019, data: { sequence: place } };
    if (sequence === 1) {
      places.set(connection, 1);
      aborter.abort();
      throw { code: -32015, data: { limit: "openRequests" } };
    }
    return { revision: sequence, changed: true };
  };
  server.connection.cut();
  await assert.rejects(given, RequestCancelledError);
  assert.deepEqual(await next, { revision: 2, changed: true });
});

story("an input that cannot be sent does not use the expected sequence number", async ({ server, client, store }) => {
  server.limits = { frameBytes: 500 };
  server.connection.cut();
  await reconnected(client);
  let place;
  server.on["store/send"] = ({ sequence, input }) => {
    if (place !== undefined && sequence > place) throw { code: -32019, data: { sequence: place } };
    place = undefined;
    if (input.n === 1) {
      place = sequence;
      throw { code: -32015, data: { limit: "inputsPerSecond" } };
    }
    return { revision: sequence, changed: true };
  };
  const aborter = new AbortController();
  const given = store.send({ type: "add", n: 1 }, { signal: aborter.signal });
  await settled();
  const large = store.send({ type: "add", n: 2, text: "a".repeat(1000) });
  const next = store.send({ type: "add", n: 3 });
  aborter.abort();
  await assert.rejects(given, RequestCancelledError);
  await assert.rejects(large, LimitError);
  assert.deepEqual(await next, { revision: 1, changed: true });
});

story("a refused frame releases the sequence number of its input", async ({ server, store }) => {
  let place;
  server.on["store/send"] = ({ sequence, input: { n } }, connection) => {
    if (place !== undefined && sequence > place) throw { code: -32019, data: { sequence: place } };
    // The first is refused temporarily and then as a frame: its number was not sent again.
    if (n === 1 && place !== undefined) connection.refuse(null, { code: -32015, data: { limit: "frameBytes" } });
    if (n === 1 && place !== undefined) return later;
    if (n === 1) {
      place = sequence;
      throw { code: -32015, data: { limit: "inputsPerSecond" } };
    }
    place = undefined;
    return { revision: sequence, changed: true };
  };
  const large = store.send({ type: "add", n: 1, text: "a".repeat(100) });
  const next = store.send({ type: "add", n: 2 });
  await assert.rejects(large, LimitError);
  assert.deepEqual(await next, { revision: 1, changed: true });
});

story("an aborted input is cancelled at the server; its late response is ignored", async ({ server, store }) => {
  let id;
  server.on["store/send"] = (params, connection, number) => ((id = number), later);
  const aborter = new AbortController();
  const response = store.send({ type: "load" }, { settle: true, signal: aborter.signal });
  await settled();
  aborter.abort(new Error("enough"));
  await assert.rejects(response, (error) => {
    assert.ok(error instanceof RequestCancelledError);
    assert.equal(error.cause.message, "enough");
    return true;
  });
  assert.deepEqual(server.of("$/cancelRequest"), [{ id }]);
  server.connection.refuse(id, { code: -32800 });
  await assert.rejects(store.send({ type: "load" }, { signal: aborter.signal }), RequestCancelledError);
});

story("a request without a response in time fails", async ({ server, client, store }) => {
  server.on["store/send"] = server.on.ping = () => later;
  await assert.rejects(store.send({ type: "load" }, { timeout: 5 }), TimedOutError);
  await assert.rejects(client.request("ping", {}, { timeout: 5 }), TimedOutError);
  assert.equal(server.of("$/cancelRequest").length, 2);
  assert.equal(client.pending, 0);
});

story("inputs above the maximum are refused immediately", async ({ server, store }) => {
  server.on["store/send"] = () => later;
  const kept = [store.send({ type: "add" }), store.send({ type: "add" })];
  await assert.rejects(store.send({ type: "add" }), TooManyPendingError);
  kept.forEach((response) => response.catch(() => {}));
}, { maximumPending: 2 });

story("a subscribed store is resumed at the revision of its replica", async ({ server, client, store }) => {
  const states = [];
  store.subscribe((state) => states.push(state.n));
  await settled();
  server.change(1);
  server.on["session/attach"] = (params, connection, id) => {
    connection.respond(id, { stores: { s: { replayed: 1 } }, sequence: 0 });
    server.change(2);
    return later;
  };
  server.connection.cut();
  await reconnected(client);
  assert.deepEqual(server.of("session/attach")[0].revisions, { s: 1 });
  assert.deepEqual(states, [0, 1, 2]);
  assert.equal(server.of("store/subscribe").length, 1);
});

story("a snapshot replaces the state and reports the reason", async ({ server, client, store }) => {
  const reasons = [];
  client.on("resynced", ({ reason }) => reasons.push(reason));
  store.subscribe(() => {});
  await settled();
  server.on["session/attach"] = () => ({
    stores: { s: { snapshot: { revision: 7, state: { n: 7 } }, reason: "trimmed" } },
    sequence: 0,
  });
  server.connection.cut();
  await reconnected(client);
  assert.deepEqual([store.state, store.revision, reasons], [{ n: 7 }, 7, ["trimmed"]]);
});

story("the state is verified after a number of updates and replaced if it is wrong", async ({ server, client, store }) => {
  const seen = [];
  client.on("divergence", ({ reason }) => seen.push(["divergence", reason]));
  client.on("resynced", ({ reason }) => seen.push(["resynced", reason]));
  store.subscribe(() => {});
  await settled();
  server.change(1);
  server.change(2, { patch: [] });
  assert.deepEqual(store.state, { n: 1 });
  server.change(3, { patch: [] });
  await settled();
  assert.deepEqual(store.state, { n: 3 });
  assert.deepEqual(seen, [["divergence", "digest"], ["resynced", "digest"]]);
}, { verifyAfterUpdates: 3 });

story("a new session replaces one that has ended", async ({ server, client, store }) => {
  store.subscribe(() => {});
  server.on["store/send"] = () => later;
  const sent = store.send({ type: "add", n: 1 });
  await settled();
  server.on["session/attach"] = () => {
    throw { code: -32013 };
  };
  server.on["session/open"] = () => ({ session: "another" });
  server.on["store/send"] = ({ sequence }) => ({ revision: sequence, changed: true });
  server.revision = 0;
  server.state = { n: 3 };
  const restarted = new Promise((resolve) => client.on("session", resolve));
  server.connection.cut();
  // An unsent input goes to the new session. A sent one may have been applied in the old session.
  const unsent = store.send({ type: "add", n: 2 });
  await assert.rejects(sent, ExpiredSessionError);
  assert.deepEqual(await unsent, { revision: 1, changed: true });
  const { session, lost } = await restarted;
  assert.ok(lost instanceof ExpiredSessionError);
  assert.deepEqual([session, client.session, store.state], ["another", "another", { n: 3 }]);
});

story("an evicted client does not reconnect", async ({ server, client, store }) => {
  const states = store.states();
  await states.next();
  const waiting = assert.rejects(states.next(), SessionEndedError);
  server.connection.notify("session/closed", { session: "handle", reason: "evicted" });
  assert.equal(client.status.state, "closed");
  await waiting;
  await assert.rejects(store.send({ type: "add" }), SessionEndedError);
  await assert.rejects(client.request("ping"), SessionEndedError);
  assert.equal(server.connections.length, 1);
});

story("a wrong token closes the client with an error", async ({ server, client }) => {
  const closed = new Promise((resolve) => client.on("closed", resolve));
  server.on.initialize = () => {
    throw { code: -32016 };
  };
  server.connection.cut();
  assert.ok((await closed) instanceof UnauthorisedError);
  assert.deepEqual(server.of("initialize")[0].token, "secret");
}, { token: "secret" });

story("the last error of the server is the reason of a lost connection", async ({ server, client }) => {
  const waiting = new Promise((resolve) =>
    client.on("status", ({ state, error }) => state === "reconnecting" && resolve(error)),
  );
  server.connection.send({ id: null, error: { code: -32015, message: "idle", data: { limit: "idleTime" } } });
  server.connection.cut();
  assert.equal((await waiting).limit, "idleTime");
});

story("an inactive client reports its phase immediately on each connection", async ({ server, client }) => {
  client.setPhase("inactive");
  await settled();
  server.received = [];
  server.connection.cut();
  await reconnected(client);
  const [first, second, third] = server.received.map(([method]) => method);
  assert.deepEqual([first, second, third], ["initialize", "session/attach", "frontend/lifecycle"]);
});

story("a phase that changes while the client attaches is reported", async ({ server, client }) => {
  for (const [before, after] of [["inactive", "active"], ["active", "inactive"]]) {
    client.setPhase(before);
    const attached = new Promise((resolve) => {
      server.on["session/attach"] = (_, connection, id) => {
        resolve({ connection, id });
        return later;
      };
    });
    server.connection.cut();
    const { connection, id } = await attached;
    client.setPhase(after);
    connection.respond(id, { stores: {}, sequence: 0 });
    assert.equal(client.status.state, "connected");
    assert.equal(server.of("frontend/lifecycle").at(-1).phase, after);
  }
});

story("a phase is not reported on a connection that has ended", async ({ server, client }) => {
  server.connection.cut();
  client.setPhase("inactive");
  client.setPhase("active");
  await reconnected(client);
  assert.deepEqual(server.of("frontend/lifecycle"), []);
});

story("the client keeps reconnecting with increasing delays", async ({ server, client }) => {
  const waits = [];
  client.on("status", (status) => waits.push(status));
  server.isDown = true;
  server.connection.cut();
  await new Promise((resolve) => client.on("status", () => waits.length > 8 && resolve()));
  server.isDown = false;
  client.reconnect();
  await reconnected(client);
  assert.ok(waits.some(({ error }) => error?.message === "connection refused"));
});

story("a silent connection is dropped", async ({ server, client }) => {
  server.on.ping = () => later;
  const first = server.connection;
  await reconnected(client);
  assert.notEqual(server.connection, first);
}, { pingInterval: 5 });

story("a store that cannot be opened reports the reason", async ({ server, client }) => {
  server.on["store/open"] = () => {
    throw { code: -32602, data: { path: "/config/count" } };
  };
  server.on["store/send"] = server.on["store/subscribe"] = () => {
    throw { code: -32010 };
  };
  const store = client.store("wrong", { kind: "todo", config: { count: -1 } });
  await assert.rejects(store.send({ type: "add" }), InvalidParamsError);
  await assert.rejects(store.states().next(), InvalidParamsError);
});

story("a late result of an earlier subscription is not the state", async ({ server, store }) => {
  const ids = [];
  server.on["store/subscribe"] = (params, connection, id) => (ids.push(id), later);
  store.subscribe(() => {})();
  await settled();
  store.subscribe(() => {});
  await settled();
  server.connection.respond(ids[0], { revision: 0, state: { n: 0 } });
  assert.equal(store.state, undefined);
  server.connection.respond(ids[1], { revision: 1, state: { n: 1 } });
  assert.deepEqual(store.state, { n: 1 });
});

story("a store that is open with another configuration is not shown", async ({ server, client }) => {
  server.on["store/open"] = () => {
    throw { code: -32018 };
  };
  const store = client.store("s", { kind: "todo", config: { memory: { count: 1 } } });
  await assert.rejects(store.states().next(), OtherConfigurationError);
  assert.equal(server.of("store/unsubscribe").length, 1);
});

story("closing a store ends its iterations", async ({ server, store }) => {
  const states = store.states();
  await states.next();
  const next = states.next();
  server.connection.notify("store/closed", { store: "s", reason: "closed" });
  assert.equal((await next).done, true);
});

story("listeners receive events", async ({ server, store }) => {
  const events = [];
  store.onEvent((event) => events.push(event));
  await settled();
  server.connection.notify("store/event", { store: "s", event: { type: "submitted" } });
  assert.deepEqual(events, [{ type: "submitted" }]);
});

story("pending calls fail when the client is closed", async ({ client, store }) => {
  const asked = [client.request("ping"), store.verify()];
  client.close();
  for (const { reason } of await Promise.allSettled(asked)) assert.ok(reason instanceof StatewireError);
});

story("a closed client sends nothing and fails all calls", async ({ server, client, store }) => {
  server.on["store/send"] = () => later;
  const states = store.states();
  await states.next();
  const response = store.send({ type: "add" });
  client.close();
  await assert.rejects(response, SessionEndedError);
  await assert.rejects(store.send({ type: "add" }), SessionEndedError);
  assert.equal((await states.next()).done, true);
  assert.equal(server.connection.isClosed, true);
});

test("the option WebSocket is used", async () => {
  const sent = [];
  class Socket {
    constructor(url) {
      assert.equal(url, "ws://somewhere/");
      queueMicrotask(() => this.onopen());
    }
    send(text) {
      const { id, method } = JSON.parse(text);
      sent.push(method);
      queueMicrotask(() => this.onmessage({ data: JSON.stringify({ id, result: { session: "handle" } }) }));
    }
    close() {
      this.onclose({ code: 1000, reason: "" });
    }
  }
  const client = connect("ws://somewhere/", { WebSocket: Socket });
  await client.connected();
  assert.deepEqual(sent, ["initialize", "session/open"]);
  client.close();
  assert.throws(() => connect("ws://somewhere/", { WebSocket: null }), StatewireError);
});

// SPDX-License-Identifier: Apache-2.0
//
// The conformance tests with a proxy that plants faults (clients/CONFORMANCE.md).

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { connect, digest } from "../node.js";
import { Listening, project, serve } from "./support/server.js";

const folder = `${project}clients/conformance`;
const faults = JSON.parse(readFileSync(`${folder}/faults.json`, "utf8"));

for (const scenario of faults.scenarios)
  test(`a planted fault is detected and repaired: ${scenario.name}`, async () => {
    await through(faults.server, ["--scenario", scenario.name], async (client, proxy, direct) => {
      const noticed = new Set();
      client.on("divergence", ({ reason }) => noticed.add(reason));
      const { store: name, kind, config } = faults;
      const store = client.store(name, { kind, config });
      const states = store.states();
      await states.next();
      for (const input of faults.inputs) await store.send(input);
      await store.verify();

      assert.deepEqual(store.state, faults.state);
      assert.equal(store.revision, faults.revision);
      assert.equal(digest(store.state), faults.digest);
      assert.deepEqual([...noticed].sort(), [...scenario.noticed].sort());
      assert.equal(proxy.lines.length - 1, scenario.plant.length, proxy.lines.join("\n"));
      const other = connect(`tcp://${direct}`, { session: client.session });
      const { state } = await other.request("store/state", { store: name });
      assert.deepEqual(state, faults.state);
      other.close();
    });
  });

for (const seed of [1, 2, 3])
  test(`50 random cuts lose and repeat no input: seed ${seed}`, async () => {
    await through([], ["--cuts", "50", "--seed", seed], async (client, proxy) => {
      const problems = [];
      client.on("divergence", (problem) => problems.push(problem));
      const config = { memory: { count: 0 } };
      const store = client.store("list", { kind: "todo", config });
      store.subscribe(() => {});
      await store.send({ type: "stateRequested" });
      let next = 1;
      const sender = async () => {
        while (next <= 500) await store.send({ type: "todoAdded", title: `Todo ${next++}` });
      };
      await Promise.all(Array.from({ length: 16 }, sender));
      assert.equal(await store.verify(), true);
      const titles = store.state.todos.map(({ title }) => title);
      assert.deepEqual(titles, Array.from({ length: 500 }, (_, i) => `Todo ${i + 1}`));
      assert.deepEqual(problems, []);
      assert.ok(proxy.lines.length > 5, "the proxy has cut nothing");
    });
  });

// The list is compared with the interactions. Todos are changed before the server has confirmed them.
test("1,000 interactions through 50 cuts are applied or refused with a reason", async () => {
  await through([], ["--cuts", "50", "--seed", "4"], async (client, proxy, direct) => {
    const store = client.store("list", { kind: "todo", config: { memory: {} } });
    const reasons = [];
    const send = (input) => reasons.push(store.send(input).then(() => [], (error) => [error]));
    send({ type: "stateRequested" });
    const random = generator(4);
    const pick = (count) => Math.floor(random() * count);
    let typed = [];
    let refused = 0;
    for (let number = 0; number < 1000; number++) {
      // The number of pending inputs is bounded, as with a person.
      if (number > 16) await reasons[number - 16];
      const todo = typed[pick(typed.length)];
      const other = typed[pick(typed.length)];
      const kind = todo ? pick(10) : 0;
      if (kind < 4) {
        const added = { id: `own ${number}`, title: `Todo ${number}`, completed: false };
        typed.push(added);
        send({ type: "todoAdded", id: added.id, title: added.title });
      } else if (kind < 6) {
        const { id } = todo;
        todo.title = `Renamed ${number}`;
        send({ type: "todoRenamed", id, title: todo.title });
      } else if (kind === 6) {
        todo.completed = !todo.completed;
        const type = todo.completed ? "todoCompleted" : "todoReopened";
        send({ type, id: todo.id });
      } else if (kind === 7) {
        typed = typed.filter((one) => one !== todo);
        send({ type: "todoRemoved", id: todo.id });
      } else if (kind === 8 && todo !== other) {
        typed = typed.filter((one) => one !== todo);
        typed.splice(typed.indexOf(other), 0, todo);
        send({ type: "todoMoved", id: todo.id, before: other.id });
      } else {
        refused++;
        send({ type: "todoAdded", title: "a".repeat(1 << 20) });
      }
    }
    const limits = (await Promise.all(reasons)).flat().map(({ limit }) => limit);
    assert.deepEqual(limits, Array(refused).fill("frameBytes"));
    const other = connect(`tcp://${direct}`, { session: client.session });
    const { state } = await other.request("store/state", { store: "list" });
    other.close();
    assert.deepEqual(state.todos, typed);
    assert.ok(proxy.lines.length > 5, "the proxy has cut nothing");
  });
});

/** Pseudo-random numbers from 0 to below 1 (mulberry32). */
function generator(seed) {
  return () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let mixed = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Makes a client that connects through the proxy. */
async function through(options, proxyOptions, body) {
  const server = await serve(...options);
  const args = [server.address, ...proxyOptions];
  const proxy = await Listening.start(`${folder}/fault-proxy`, args, { stream: "stdout" });
  const client = connect(`tcp://${proxy.address}`, { backoff: { base: 2, maximum: 50 } });
  try {
    await body(client, proxy, server.address);
  } finally {
    client.close();
    await proxy.stop();
    await server.stop();
  }
}

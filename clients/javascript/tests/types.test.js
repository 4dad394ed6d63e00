// SPDX-License-Identifier: Apache-2.0
//
// Values of all types that docs/reference/types.md lists: they arrive and return unchanged.
// TYPES_SERVER: the program Tests/TypesServer (beside the program under test).

import assert from "node:assert/strict";
import { dirname, join } from "node:path";
import { test } from "node:test";

import { spawn } from "../node.js";
import { program } from "./support/server.js";

const typesServer = process.env.TYPES_SERVER ?? join(dirname(program), "TypesServer");

async function withStore(body) {
  const client = spawn(typesServer, ["serve"]);
  try {
    const store = client.store("types");
    const states = store.states();
    await body(store, async () => (await states.next()).value);
  } finally {
    client.close();
  }
}

test("values of all types arrive and return unchanged", () =>
  withStore(async (store, next) => {
    let state = await next();
    for (let echo = 1; echo <= 3; echo += 1) {
      await store.send({ type: "echoed", values: state.values });
      state = await next();
      assert.equal(state.sameEchoes, echo);
    }
    assert.equal(state.otherEchoes, 0);
    assert.equal(await store.verify(), true);
  }));

test("a changed value is noticed", () =>
  withStore(async (store, next) => {
    const { values } = await next();
    await store.send({ type: "echoed", values: { ...values, duration: "1.5" } });
    assert.equal((await next()).otherEchoes, 1);
  }));

test("values of all types are read by the standard library", () =>
  withStore(async (store, next) => {
    const { values } = await next();
    assert.equal(new Date(values.date).getTime(), 1_795_690_219_250);
    assert.deepEqual([...Buffer.from(values.data, "base64")], [0, 1, 254, 255]);
    assert.equal(BigInt(values.int128), -(2n ** 127n));
    assert.equal(new URL(values.url).protocol, "file:");
    assert.equal(Number(values.duration), 1.5);
  }));

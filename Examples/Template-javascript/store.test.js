// SPDX-License-Identifier: Apache-2.0

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { kind } from "./store.js";
import { TestStore } from "./statewire/stores.js";

test("each tap adds one", async () => {
  const store = new TestStore(kind);
  await store.send({ type: "incrementTapped" });
  await store.send({ type: "incrementTapped" });
  assert.deepEqual(store.state, { count: 2, isRunning: false });
  await store.finish();
});

test("the store counts each second until it is stopped", async () => {
  const store = new TestStore(kind);
  await store.send({ type: "startTapped" });
  await store.advance(1000);
  await store.receive({ type: "secondPassed" });
  assert.deepEqual(store.state, { count: 1, isRunning: true });
  await store.send({ type: "stopTapped" });
  await store.advance(5000);
  assert.deepEqual(store.state, { count: 1, isRunning: false });
  await store.finish();
});

const skip = spawnSync("statewire", ["--version"]).error && "the program statewire is not in PATH";
test("a client receives the messages of the conversation", { skip }, () => {
  const server = "statewire serve --test --store counter='node store.js'";
  const play = spawnSync("statewire", ["play", "counter.conversation", "--spawn", server], { encoding: "utf8" });
  assert.equal(play.status, 0, play.stdout + play.stderr);
});

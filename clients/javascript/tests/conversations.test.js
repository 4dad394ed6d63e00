// SPDX-License-Identifier: Apache-2.0
//
// The conformance test with the shared conversations (clients/CONFORMANCE.md): this test plays the server
// for connections of the client and compares each message.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { before, test } from "node:test";

import { digest } from "../index.js";
import { Connection } from "../src/connection.js";
import { Replica } from "../src/replica.js";
import { program, project } from "./support/server.js";
import { straightforward } from "./support/straightforward.js";
import { conversations } from "./support/transcript.js";

let played;

before(() => {
  const folder = mkdtempSync(join(tmpdir(), "statewire-"));
  try {
    const transcript = join(folder, "transcript");
    execFileSync(join(project, "clients/conformance/record"), [transcript], {
      env: { ...process.env, STATEWIRE: program },
      stdio: ["ignore", "ignore", "pipe"],
    });
    played = conversations(readFileSync(transcript, "utf8"));
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("all shared conversations are sent and handled", async () => {
  assert.ok(played.length > 40, `${played.length} conversations`);
  for (const conversation of played) await new Run(conversation).play();
});

/** One connection of the client, with its replicas and the expected ones. */
class End {
  arrived = [];
  notified = [];
  responses = new Map();
  replicas = new Map();
  expected = new Map();
  /** The client's request ids by those in the transcript. */
  ids = new Map();
  open = new Map();
  hasEnded = false;

  async connect() {
    this.connection = await Connection.open(
      async ({ message, closed }) => {
        this.send = (value) => message(JSON.stringify(value));
        this.hangUp = closed;
        return { send: (text) => this.arrived.push(JSON.parse(text)), close: () => (this.hasLeft = true) };
      },
      {
        notified: (method, params) => {
          this.notified.push({ method, params });
          if (method === "store/changed") {
            const replica = this.replicas.get(params.store);
            if (replica) assert.equal(replica.apply(params), undefined);
          } else if (method === "store/closed") this.replicas.delete(params.store);
          else if (method === "session/closed") this.replicas.clear();
        },
        ended: () => (this.hasEnded = true),
      },
      { pingInterval: 0 },
    );
    return this;
  }

  request(method, params) {
    const id = this.connection.call(method, params, (error, result) => {
      this.responses.set(id, { error, result });
      if (!error) this.took(method, params, result);
    });
    return id;
  }

  /** Updates the replicas with a result, as the client does. */
  took(method, params, result) {
    const { replicas } = this;
    if (method === "store/subscribe") replicas.set(params.store, known(result));
    else if (method === "store/unsubscribe") replicas.delete(params.store);
    else if (method === "session/detach" || method === "session/close") replicas.clear();
    else if (method === "session/attach") {
      const held = new Map(replicas);
      replicas.clear();
      for (const [store, { snapshot, replayed }] of Object.entries(result.stores))
        if (snapshot) replicas.set(store, known(snapshot));
        else if (replayed !== undefined && held.has(store)) replicas.set(store, held.get(store));
    }
  }
}

function known(snapshot) {
  const replica = new Replica();
  replica.take(snapshot);
  return replica;
}

class Run {
  ends = new Map();
  /** All states seen on any connection, by "store revision". */
  seen = new Map();

  constructor({ place, steps }) {
    this.place = place;
    this.steps = steps;
  }

  async play() {
    for (const [index, step] of this.steps.entries()) {
      try {
        await this.step(step, index);
      } catch (error) {
        error.message = `${this.place}\n${step.line}\n${error.message}`;
        throw error;
      }
    }
  }

  async step(step, index) {
    let end = this.ends.get(step.name);
    if (!end || end.hasEnded) this.ends.set(step.name, (end = await new End().connect()));
    if (step.kind === "close") {
      if (step.isOurs) end.connection.close();
      else end.hangUp();
      assert.ok(end.hasEnded && end.hasLeft);
      for (const id of end.open.values())
        assert.equal(end.responses.get(id.id).error.name, "ConnectionLostError");
    } else if (step.isOurs) this.ask(end, step, index);
    else this.respond(end, step.message);
    assert.deepEqual(end.arrived, [], "the client has sent a message without a call");
    for (const [store, expected] of end.expected) {
      const replica = end.replicas.get(store);
      assert.ok(replica, `there is no replica of ${store}`);
      assert.equal(replica.revision, expected.revision);
      assert.deepEqual(replica.state, expected.state);
    }
    for (const store of end.replicas.keys()) assert.ok(end.expected.has(store), `${store} is not left`);
  }

  ask(end, { kind, message, line, name }, index) {
    // No client sends such messages.
    if (kind === "bytes" || Array.isArray(message) || !isRequest(message)) return;
    const { id, method, params = {} } = message;
    if (id === undefined) {
      if (method === "$/cancelRequest") {
        if (!end.ids.has(JSON.stringify(params.id))) return;
        end.connection.notify(method, { id: end.ids.get(JSON.stringify(params.id)) });
        const [sent] = end.arrived.splice(0);
        return assert.deepEqual(sent, { ...message, params: { id: end.ids.get(JSON.stringify(params.id)) } });
      }
      end.connection.notify(method, params);
      return assert.deepEqual(end.arrived.splice(0), [{ jsonrpc: "2.0", method, params }]);
    }
    const key = JSON.stringify(id);
    if (id === null || end.open.has(key)) return;
    const asked =
      method === "$/cancelRequest" && end.ids.has(JSON.stringify(params.id))
        ? { id: end.ids.get(JSON.stringify(params.id)) }
        : params;
    if (method === "session/attach") this.restoreEarlierReplica(end, message, name, index);
    const ours = end.request(method, asked);
    assert.deepEqual(end.arrived.splice(0), [{ jsonrpc: "2.0", id: ours, method, params: asked }], line);
    end.ids.set(key, ours);
    end.open.set(key, { id: ours, method, params });
  }

  /** Gives a new connection the replica of another one. */
  restoreEarlierReplica(end, { id, params }, name, index) {
    const response = this.steps
      .slice(index)
      .find((step) => !step.isOurs && step.name === name && step.message?.id === id)?.message.result;
    for (const [store, { replayed }] of Object.entries(response?.stores ?? {})) {
      if (replayed === undefined) continue;
      const revision = params.revisions[store];
      end.replicas.delete(store);
      end.expected.delete(store);
      if (!this.seen.has(`${store} ${revision}`)) continue;
      const state = this.seen.get(`${store} ${revision}`);
      end.replicas.set(store, known({ revision, state }));
      this.expect(end, store, { revision, state });
    }
  }

  respond(end, message) {
    if (Array.isArray(message)) {
      const translated = message.map((member) => this.translate(end, member));
      end.send(translated);
      message.forEach((member, i) => this.check(end, member, translated[i]));
    } else {
      const translated = this.translate(end, message);
      end.send(translated);
      this.check(end, message, translated);
    }
    assert.deepEqual(end.notified, []);
  }

  translate(end, message) {
    if (message.method === "store/changed") {
      const { applied } = message.params;
      const ours = applied === null ? null : (end.ids.get(JSON.stringify(applied)) ?? applied);
      return { ...message, params: { ...message.params, applied: ours } };
    }
    if (message.method !== undefined || message.id === null) return message;
    return { ...message, id: end.open.get(JSON.stringify(message.id))?.id ?? "unasked" };
  }

  /** Checks how the client handles a message of the server. */
  check(end, message, translated) {
    if (message.method !== undefined) {
      assert.deepEqual(end.notified.shift(), { method: message.method, params: translated.params });
      return this.followNotification(end, message);
    }
    const key = JSON.stringify(message.id);
    const request = end.open.get(key);
    if (!request) return;
    end.open.delete(key);
    const { error, result } = end.responses.get(request.id);
    if (message.error) {
      const { code, message: text, data } = error;
      assert.deepEqual({ code, message: text, data }, { data: undefined, ...message.error });
      return;
    }
    assert.equal(error, undefined);
    assert.deepEqual(result, message.result);
    this.followResponse(end, request, result);
  }

  followNotification(end, { method, params }) {
    if (method === "store/closed") end.expected.delete(params.store);
    if (method === "session/closed") end.expected.clear();
    const held = end.expected.get(params.store);
    if (method !== "store/changed" || !held) return;
    assert.equal(params.base, held.revision);
    const state = params.patch ? straightforward(held.state, params.patch) : params.state;
    this.expect(end, params.store, { revision: params.revision, state });
  }

  followResponse(end, { method, params }, result) {
    if (method === "store/subscribe") this.expect(end, params.store, result);
    if (method === "store/unsubscribe") end.expected.delete(params.store);
    if (method === "session/detach" || method === "session/close") end.expected.clear();
    if (method === "session/attach") {
      for (const store of end.expected.keys())
        if (result.stores[store]?.replayed === undefined) end.expected.delete(store);
      for (const [store, { snapshot }] of Object.entries(result.stores))
        if (snapshot) this.expect(end, store, snapshot);
    }
    const replica = end.replicas.get(params.store);
    if (method === "store/state" && replica?.revision === result.revision)
      assert.equal(digest(replica.state), result.digest);
  }

  expect(end, store, { revision, state }) {
    end.expected.set(store, { revision, state: structuredClone(state) });
    this.seen.set(`${store} ${revision}`, structuredClone(state));
  }
}

function isRequest({ jsonrpc, method, params, id }) {
  const isParams = params === undefined || (typeof params === "object" && params !== null);
  const isId = id === undefined || ["string", "number"].includes(typeof id);
  return jsonrpc === "2.0" && typeof method === "string" && isParams && !Array.isArray(params) && isId;
}

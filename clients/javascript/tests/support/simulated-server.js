// SPDX-License-Identifier: Apache-2.0

import { digest } from "../../index.js";

/**
 * A simulated server in memory. `on[method](params, connection, id)` returns the result, throws the members of an
 * error, or returns `later` to delay the response.
 */
export class SimulatedServer {
  static later = Symbol("later");
  connections = [];
  /** The received messages of all connections: [method, params]. */
  received = [];
  /** The length of each received message in bytes. */
  lengths = [];

  on = {
    initialize: () => ({
      protocolVersion: "1",
      server: { name: "simulated", version: "0" },
      limits: this.limits,
    }),
    "session/open": () => ({ session: "handle" }),
    "session/attach": ({ revisions }) => ({
      stores: Object.fromEntries(Object.keys(revisions).map((store) => [store, { replayed: 0 }])),
      sequence: this.accepted,
    }),
    "store/subscribe": () => ({ revision: this.revision, state: this.state }),
    "store/unsubscribe": () => ({}),
    "store/send": ({ sequence }) => {
      this.accepted = Math.max(this.accepted, sequence ?? 0);
      return { revision: this.revision, changed: false };
    },
    "store/state": () => ({
      revision: this.revision,
      state: this.state,
      digest: digest(this.state),
    }),
    "store/open": () => ({ revision: 0 }),
    ping: () => ({}),
    "frontend/lifecycle": () => ({}),
  };
  revision = 0;
  state = { n: 0 };
  accepted = 0;
  /** The limits in the result of `initialize`; older servers report none. */
  limits;

  dial = async (listener) => {
    if (this.isDown) throw new Error("connection refused");
    const connection = {
      raw: (text) => listener.message(text),
      send: (message) => connection.raw(JSON.stringify({ jsonrpc: "2.0", ...message })),
      notify: (method, params) => connection.send({ method, params }),
      respond: (id, result) => connection.send({ id, result }),
      /** Sends an error; `id` may be null. */
      refuse: (id, error) => connection.send({ id, error: { message: "no", ...error } }),
      cut: () => listener.closed(new Error("cut")),
    };
    this.connections.push(connection);
    return {
      send: (text) => {
        const { id, method, params } = JSON.parse(text);
        this.received.push([method, params]);
        this.lengths.push(Buffer.byteLength(text));
        queueMicrotask(() => this.#serve(connection, id, method, params));
      },
      close: () => (connection.isClosed = true),
    };
  };

  get connection() {
    return this.connections.at(-1);
  }

  /** Returns the params of all received messages with a method. */
  of(method) {
    return this.received.filter(([name]) => name === method).map(([, params]) => params);
  }

  /** Changes the state and sends an update. */
  change(n, members = {}) {
    const base = this.revision++;
    this.state = { n };
    this.connection.notify("store/changed", {
      store: "s",
      base,
      revision: this.revision,
      patch: [{ op: "replace", path: "/n", value: n }],
      applied: null,
      ...members,
    });
  }

  #serve(connection, id, method, params) {
    if (connection.isClosed || id === undefined) return;
    if (!this.on[method]) throw new Error(`the test does not handle ${method}`);
    let result;
    try {
      result = this.on[method](params, connection, id);
    } catch (error) {
      if (error instanceof Error) throw error;
      return connection.refuse(id, error);
    }
    if (result !== SimulatedServer.later) connection.respond(id, result);
  }
}

/** Waits until pending promise callbacks have run. */
export async function settled() {
  for (let i = 0; i < 30; i++) await Promise.resolve();
}

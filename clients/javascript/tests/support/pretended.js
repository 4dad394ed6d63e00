// SPDX-License-Identifier: Apache-2.0

import { digest } from "../../index.js";

/**
 * A server in memory that says what a test wants it to say. `on[method](params, peer, id)` gives the
 * result, throws an error's members, or gives `later` for no answer yet.
 */
export class PretendedServer {
  static later = Symbol("later");
  peers = [];
  /** What has come, over all connections: [method, params]. */
  heard = [];
  /** The length of each in bytes. */
  lengths = [];

  on = {
    initialize: () => ({
      protocolVersion: "1",
      server: { name: "pretended", version: "0" },
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
  /** What `initialize` tells; older servers tell none. */
  limits;

  dial = async (listener) => {
    if (this.isDown) throw new Error("nobody listens");
    const peer = {
      raw: (text) => listener.message(text),
      say: (message) => peer.raw(JSON.stringify({ jsonrpc: "2.0", ...message })),
      notify: (method, params) => peer.say({ method, params }),
      answer: (id, result) => peer.say({ id, result }),
      /** An error with the id null where `id` is. */
      refuse: (id, error) => peer.say({ id, error: { message: "no", ...error } }),
      cut: () => listener.closed(new Error("cut")),
    };
    this.peers.push(peer);
    return {
      send: (text) => {
        const { id, method, params } = JSON.parse(text);
        this.heard.push([method, params]);
        this.lengths.push(Buffer.byteLength(text));
        queueMicrotask(() => this.#serve(peer, id, method, params));
      },
      close: () => (peer.isClosed = true),
    };
  };

  get peer() {
    return this.peers.at(-1);
  }

  /** What has come of one method. */
  of(method) {
    return this.heard.filter(([name]) => name === method).map(([, params]) => params);
  }

  /** The state is another one: everybody who listens is told. */
  change(n, members = {}) {
    const base = this.revision++;
    this.state = { n };
    this.peer.notify("store/changed", {
      store: "s",
      base,
      revision: this.revision,
      patch: [{ op: "replace", path: "/n", value: n }],
      applied: null,
      ...members,
    });
  }

  #serve(peer, id, method, params) {
    if (peer.isClosed || id === undefined) return;
    if (!this.on[method]) throw new Error(`nobody has said what to do with ${method}`);
    let result;
    try {
      result = this.on[method](params, peer, id);
    } catch (error) {
      if (error instanceof Error) throw error;
      return peer.refuse(id, error);
    }
    if (result !== PretendedServer.later) peer.answer(id, result);
  }
}

/** Lets everything happen that needs no time. */
export async function settled() {
  for (let i = 0; i < 30; i++) await Promise.resolve();
}

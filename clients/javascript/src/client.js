// SPDX-License-Identifier: Apache-2.0
//
// A frontend's session: it is opened over the first connection and attached to again over each
// further one, so that stores, inputs and states go on where they were.

import { Backoff } from "./backoff.js";
import { Connection } from "./connection.js";
import { Emitter } from "./emitter.js";
import {
  cancelled,
  ClientClosedError,
  ConnectionLostError,
  EvictedError,
  MethodNotFoundError,
  SessionOverError,
  StatewireError,
  TimeoutError,
  UnauthorisedError,
  UnknownSessionError,
  UnknownStoreError,
  UnsupportedVersionError,
} from "./errors.js";
import { Outbox } from "./outbox.js";
import { Store } from "./store.js";

export class Client {
  #dial;
  #options;
  #emitter = new Emitter();
  #stores = new Map();
  #status = { state: "connecting" };
  #phase = "active";
  #wake = () => {};
  #whenClosed = new AbortController();
  #outbox;
  #connection;
  /** Why the server closes the connection, where it has said so. */
  #refusal;

  /**
   * `dial({message, closed, signal})` gives a channel with `send(text)` and `close()`. Options:
   * `session` the handle of a session to go on with; `frontend` the name of this frontend in it, null
   * for none; `role`; `token`; `name` of the program; `checkEvery` so many frames the digest is
   * compared; `heartbeat` and `timeout` in milliseconds, 0 for none; `backoff` with `base` and `max`
   * in milliseconds; `maximumPending` inputs that wait for their answer.
   */
  constructor(dial, options = {}) {
    this.#dial = dial;
    this.#options = {
      name: "statewire-javascript",
      timeout: 30_000,
      checkEvery: 1000,
      maximumPending: 10_000,
      ...options,
    };
    this.session = options.session ?? null;
    this.frontend = options.frontend === undefined ? randomName() : options.frontend;
    this.#outbox = new Outbox({
      isNamed: this.frontend !== null,
      maximum: this.#options.maximumPending,
      backoff: options.backoff,
    });
    this.#run();
  }

  /** `state` is "connecting", "connected", "waiting" (until `retryAt`, after `error`) or "closed". */
  get status() {
    return this.#status;
  }

  /** How many inputs have not been answered. */
  get pending() {
    return this.#outbox.size;
  }

  /**
   * Listens to "status", "session" (there is another one; `lost` says why), "closed", "presence", "traced",
   * "problem" (a store's frame does not fit), "resynchronised" (a store's state came as a whole).
   */
  on(type, listener) {
    return this.#emitter.on(type, listener);
  }

  /** The store of this name. With `kind` (and `config`) it is opened before it is used. */
  store(name, options) {
    let store = this.#stores.get(name);
    if (!store) this.#stores.set(name, (store = new Store(this, name, options)));
    return store;
  }

  /** Resolves once there is a connection; rejects if there will be none. */
  async connected() {
    while (!this.#connection) {
      if (this.#status.state === "closed") throw this.#status.error;
      await new Promise((resolve) => {
        const stop = this.on("status", () => resolve(stop()));
      });
    }
  }

  /** Any request; waits for a connection. It is not sent again if that is lost. */
  async request(method, params = {}, { signal, timeout = this.#options.timeout } = {}) {
    if (signal?.aborted) throw cancelled(signal);
    let giveUp;
    const givenUp = new Promise((_, reject) => (giveUp = reject));
    const abort = () => giveUp(cancelled(signal));
    signal?.addEventListener("abort", abort);
    const late = () => giveUp(new TimeoutError(`no answer within ${timeout} ms`));
    const timer = timeout ? setTimeout(late, timeout) : undefined;
    let connection, id;
    try {
      await Promise.race([this.connected(), givenUp]);
      connection = this.#connection;
      const answer = new Promise((resolve, reject) => {
        const answered = (error, result) => (error ? reject(error) : resolve(result));
        id = connection.call(method, params, answered);
      });
      return await Promise.race([answer, givenUp]);
    } catch (error) {
      if (error instanceof TimeoutError || signal?.aborted)
        connection?.notify("$/cancelRequest", { id });
      throw error;
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener("abort", abort);
    }
  }

  /** Says whether somebody looks at this frontend: "active" or "inactive". */
  lifecycle(phase) {
    this.#phase = phase;
    this.#connection?.call("frontend/lifecycle", { phase }, () => {});
  }

  /** Tries again at once, where it waits to do so: the network is back, say. */
  reconnect() {
    this.#wake();
  }

  /** Ends the connection, not the session: whoever has its handle can go on with it. */
  close() {
    this.#finish(new ClientClosedError("the client was closed"));
  }

  /** Ends the session with its stores, for all who are attached, and the client. */
  async end() {
    await this.request("session/close");
    this.close();
  }

  // What stores call; nothing of it is for others.

  get _connection() {
    return this.#connection;
  }

  get _outbox() {
    return this.#outbox;
  }

  get _checkEvery() {
    return this.#options.checkEvery;
  }

  _emit(type, value) {
    this.#emitter.emit(type, value);
  }

  async #run() {
    const backoff = new Backoff(this.#options.backoff);
    while (this.#status.state !== "closed") {
      this.#set({ state: "connecting" });
      const began = Date.now();
      let error;
      try {
        error = await this.#serve();
      } catch (failure) {
        error = failure;
      }
      if (this.#status.state === "closed") return;
      if (isFinal(error)) return this.#finish(error);
      // A server that takes connections and drops them at once is not asked faster and faster.
      if (this.#status.state === "connected" && Date.now() - began > 1000) backoff.reset();
      const delay = backoff.next();
      this.#set({ state: "waiting", error, retryAt: Date.now() + delay });
      await this.#pause(delay);
    }
  }

  /** One connection from its beginning to its end. Returns why it ended; throws why it could not begin. */
  async #serve() {
    let ended;
    const end = new Promise((resolve) => (ended = resolve));
    this.#refusal = undefined;
    let current;
    const listener = {
      notified: (method, params) => this.#notified(method, params, current),
      refused: (error) => (this.#refusal = error),
      ended: (error) => {
        if (this.#connection === current) {
          this.#connection = undefined;
          this.#outbox.lost();
        }
        ended(this.#refusal ?? error);
      },
    };
    const { signal } = this.#whenClosed;
    const dialled = new AbortController();
    const stop = () => {
      dialled.abort();
      current?.close();
    };
    signal.addEventListener("abort", stop);
    const timer = this.#options.timeout ? setTimeout(stop, this.#options.timeout) : undefined;
    try {
      const { heartbeat } = this.#options;
      current = await Connection.open(this.#dial, listener, { heartbeat, signal: dialled.signal });
      await this.#greet(current);
      clearTimeout(timer);
      return await end;
    } catch (error) {
      current?.close();
      throw this.#refusal ?? error;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener("abort", stop);
    }
  }

  async #greet(connection) {
    const { token, name, role } = this.#options;
    const requests = [
      connection.request("initialize", { protocolVersion: "1", client: { name }, token }),
    ];
    // Before anything is shown: a frontend that nobody looks at is sent no amounts.
    if (this.#phase === "inactive")
      requests.push(connection.request("frontend/lifecycle", { phase: this.#phase }));
    let lost;
    if (this.session)
      requests.push(
        this.#attach(connection, role).catch((error) => {
          if (!(error instanceof SessionOverError || error instanceof UnknownSessionError)) throw error;
          lost = error;
          return this.#open(connection, lost);
        }),
      );
    else requests.push(this.#open(connection));
    await Promise.all(requests);
    if (connection.isOver) throw this.#refusal ?? new ConnectionLostError("the connection was lost");
  }

  async #open(connection, lost) {
    const isFirst = this.session === null;
    const { session } = await this.#call(connection, "session/open", {
      frontend: this.frontend ?? undefined,
    }, () => {
      if (!isFirst) this.#outbox.fail(lost);
      this.#outbox.restart();
      for (const store of this.#stores.values()) store._restart();
      this.#join(connection, {}, 0);
    });
    this.session = session;
    this.#emitter.emit("session", { session, lost });
  }

  async #attach(connection, role) {
    const revisions = {};
    for (const { name, _held } of this.#stores.values())
      if (_held !== undefined) revisions[name] = _held;
    const params = { session: this.session, frontend: this.frontend ?? undefined, role };
    const joined = ({ stores, sequence }) => this.#join(connection, stores, sequence);
    try {
      await this.#call(connection, "session/attach", { ...params, revisions }, joined);
    } catch (error) {
      // One of the stores is not there; each of them is asked for by itself.
      if (!(error instanceof UnknownStoreError)) throw error;
      await this.#call(connection, "session/attach", { ...params, revisions: {} }, joined);
    }
  }

  /** A request whose answer is acted upon before the frames that follow it are read. */
  #call(connection, method, params, then) {
    return new Promise((resolve, reject) =>
      connection.call(method, params, (error, result) => {
        if (error) return reject(error);
        then(result);
        resolve(result);
      }),
    );
  }

  #join(connection, outcomes, sequence) {
    this.#connection = connection;
    for (const store of this.#stores.values())
      store._resume(connection, Object.hasOwn(outcomes, store.name) ? outcomes[store.name] : undefined);
    this.#outbox.resume(connection, sequence);
    this.#set({ state: "connected" });
  }

  #notified(method, params, connection) {
    switch (method) {
      case "store/changed":
        return this.#stores.get(params.store)?._changed(params, connection);
      case "store/event":
        return this.#stores.get(params.store)?._event(params.event);
      case "store/closed":
        return this.#stores.get(params.store)?._closed();
      case "session/presence":
        return this._emit("presence", params);
      case "session/traced":
        return this._emit("traced", params);
      case "session/closed":
        if (params.reason === "evicted")
          return this.#finish(new EvictedError("another connection has taken this frontend's name"));
        // The next connection learns that the session is over, and opens another one.
        return connection.close(new StatewireError(`the session is over: ${params.reason}`));
    }
  }

  #set(status) {
    if (this.#status.state === "closed") return;
    this.#status = status;
    this._emit("status", status);
  }

  #pause(delay) {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, delay);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  #finish(error) {
    if (this.#status.state === "closed") return;
    this.#set({ state: "closed", error });
    this.#outbox.end(error);
    this.#whenClosed.abort();
    this.#wake();
    const isWanted = error.constructor === ClientClosedError;
    for (const store of this.#stores.values()) store._closed(isWanted ? undefined : error);
    this._emit("closed", error);
  }
}

/** Whether the same would happen again over a new connection. */
function isFinal(error) {
  return (
    error instanceof UnauthorisedError ||
    error instanceof UnsupportedVersionError ||
    error instanceof MethodNotFoundError
  );
}

// No secret: it tells the frontends of one session apart.
function randomName() {
  return `js-${Math.random().toString(36).slice(2)}`;
}

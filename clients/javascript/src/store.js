// SPDX-License-Identifier: Apache-2.0

import { cancelled, ConnectionLostError, TimeoutError } from "./errors.js";
import { guarded } from "./emitter.js";
import { Newest } from "./newest.js";
import { Replica } from "./replica.js";

/**
 * One store of a client's session: what it shows, and what is sent to it. The state follows the
 * server's as long as somebody watches.
 */
export class Store {
  #client;
  #replica = new Replica();
  /** Inputs whose effect is drawn before the server has answered, in their order. */
  #optimistic = new Set();
  #drawn;
  #watchers = new Set();
  #listeners = new Set();
  #isSynchronising = false;
  #isSubscribed = false;
  #isOpened = false;
  #openedOver;
  #openError;
  #unchecked = 0;

  constructor(client, name, { kind, config } = {}) {
    this.#client = client;
    this.name = name;
    this.kind = kind;
    this.config = config;
  }

  /** What to draw: the server's state, with what is sent and not answered on top; undefined if not known. */
  get state() {
    return this.#drawn;
  }

  /** The server's revision of the state; null if not known. */
  get revision() {
    return this.#replica.revision;
  }

  /** The server's state alone. */
  get confirmed() {
    return this.#replica.state;
  }

  /**
   * The states as they come, the present one first. A consumer that is slow gets the newest one when
   * it asks for the next. Ends when the store is closed.
   */
  async *states({ signal } = {}) {
    const newest = new Newest();
    const stop = this.watch((state) => newest.set(state), (error) => newest.end(error));
    try {
      yield* newest.values(signal);
    } finally {
      stop();
    }
  }

  [Symbol.asyncIterator]() {
    return this.states();
  }

  /** Calls back with each state, at once with the present one; `ended` when no more will come. */
  watch(changed, ended = () => {}) {
    const watcher = { changed, ended };
    const { state, error } = this.#client.status;
    if (state === "closed") {
      guarded(ended, error);
      return () => {};
    }
    this.#watchers.add(watcher);
    if (this.#replica.isKnown) guarded(changed, this.#drawn);
    this.#follow();
    return () => {
      if (this.#watchers.delete(watcher)) this.#leave();
    };
  }

  /** Calls back with each event while the store is watched, and watches it. */
  onEvent(listener) {
    const stop = this.watch(() => {});
    const entry = (event) => listener(event);
    this.#listeners.add(entry);
    return () => {
      this.#listeners.delete(entry);
      stop();
    };
  }

  /**
   * Sends an input. Resolves with the answer, which comes after the frame that the input caused; with
   * `settle` once all its effects have ended. `draw(state)` gives the state that the input will lead
   * to, and is drawn until the answer is there: with `draw`, `settle` is meant unless it is false.
   */
  send(input, { settle, draw, signal, timeout = 0 } = {}) {
    const { promise, resolve, reject } = withResolvers();
    if (signal?.aborted) {
      reject(cancelled(signal));
      return promise;
    }
    const outbox = this.#client._outbox;
    const entry = {
      draw,
      untilApplied: draw && settle === false,
      prepare: (connection) => this.#open(connection),
      params: () => ({ store: this.name, input, settle: settle ?? (draw ? true : undefined) }),
      answered: (error, result) => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", abort);
        if (this.#optimistic.delete(entry)) this.#publish();
        if (error) return reject(this.#explained(error));
        this.#answered(result.revision, entry.connection);
        resolve(result);
      },
    };
    const giveUp = (error) => {
      outbox.cancel(entry);
      entry.answered(error);
    };
    const abort = () => giveUp(cancelled(signal));
    signal?.addEventListener("abort", abort);
    const timer = timeout
      ? setTimeout(() => giveUp(new TimeoutError(`no answer within ${timeout} ms`)), timeout)
      : undefined;
    if (draw) {
      this.#optimistic.add(entry);
      this.#publish();
    }
    outbox.add(entry);
    return promise;
  }

  /**
   * Compares the digest of the state with the server's, and takes the server's state if ours is another
   * one. Resolves with whether it was the same.
   */
  async verify() {
    for (;;) {
      await this.#client.connected();
      const connection = this.#client._connection;
      this.#open(connection);
      const { promise, resolve, reject } = withResolvers();
      this.#check(connection, (error, isEqual) => (error ? reject(error) : resolve(isEqual)));
      try {
        return await promise;
      } catch (error) {
        // A question can be asked again.
        if (!(error instanceof ConnectionLostError)) throw error;
      }
    }
  }

  /** Ends the store at the server, for all frontends of the session. */
  async close() {
    await this.#client.request("store/close", { store: this.name });
    this._closed();
  }

  // What the client calls; nothing of it is for others.

  /** A connection is there, to a session that has the store's subscription where `outcome` is given. */
  _resume(connection, outcome) {
    this.#openedOver = undefined;
    this.#isSynchronising = false;
    this.#isSubscribed = outcome !== undefined;
    if (outcome?.closed) this._closed();
    else if (outcome?.snapshot) {
      this.#take(outcome.snapshot, outcome.reason);
    } else this.#follow();
  }

  /** The session is another one: what the store held is not there. */
  _restart() {
    this.#isOpened = false;
    this.#openedOver = undefined;
    this.#replica.forget();
  }

  /** The revision that `session/attach` resumes from; undefined if nobody watches or nothing is known. */
  get _held() {
    return this.#watchers.size && this.#replica.isKnown ? this.#replica.revision : undefined;
  }

  _changed(params, connection) {
    // While the whole state is on its way, frames before it lead from one that we do not have.
    if (this.#isSynchronising || !this.#isSubscribed) return;
    const fault = this.#replica.change(params);
    if (fault) return this.#heal(connection, fault);
    if (params.applied !== null && params.applied !== undefined)
      for (const entry of this.#optimistic)
        if (entry.untilApplied && entry.connection === connection && entry.id <= params.applied)
          this.#optimistic.delete(entry);
    this.#publish();
    if (++this.#unchecked >= this.#client._checkEvery) this.#check(connection, () => {});
  }

  _event(event) {
    for (const listener of [...this.#listeners]) guarded(listener, event);
  }

  _closed(error) {
    this.#replica.forget();
    this.#drawn = undefined;
    this.#isOpened = this.#isSubscribed = this.#isSynchronising = false;
    const watchers = [...this.#watchers];
    this.#watchers.clear();
    for (const { ended } of watchers) guarded(ended, error);
  }

  // Frames come before the answers that tell of their revisions.
  #answered(revision, connection) {
    if (connection !== this.#client._connection || this.#isSynchronising || !this.#isSubscribed) return;
    if (this.#replica.isKnown && revision > this.#replica.revision) this.#heal(connection, "gap");
  }

  #heal(connection, reason) {
    this.#client._emit("problem", { store: this.name, reason });
    this.#synchronise(connection, reason);
  }

  // Once for each connection until it has worked: opening again does no harm, and not to wait for
  // the answer saves a round trip.
  #open(connection) {
    if (!this.kind || this.#isOpened || this.#openedOver === connection) return;
    this.#openedOver = connection;
    const params = { store: this.name, kind: this.kind, config: this.config };
    connection.call("store/open", params, (error) => {
      if (error instanceof ConnectionLostError) return;
      this.#isOpened = !error;
      this.#openError = error;
      if (error) this.#openedOver = undefined;
    });
  }

  // A store that could not be opened is not known: why it could not says more.
  #explained(error) {
    return error.code === -32010 && this.#openError ? this.#openError : error;
  }

  #follow() {
    const connection = this.#client._connection;
    if (!connection || !this.#watchers.size || this.#isSubscribed || this.#isSynchronising) return;
    this.#open(connection);
    this.#synchronise(connection);
  }

  #leave() {
    if (this.#watchers.size) return;
    const connection = this.#client._connection;
    if (connection && (this.#isSubscribed || this.#isSynchronising))
      connection.call("store/unsubscribe", { store: this.name }, () => {});
    this.#isSubscribed = this.#isSynchronising = false;
    this.#replica.forget();
    this.#draw();
  }

  #synchronise(connection, reason) {
    this.#isSynchronising = true;
    connection.call("store/subscribe", { store: this.name }, (error, result) => {
      if (connection !== this.#client._connection || !this.#isSynchronising) return;
      this.#isSynchronising = false;
      if (error) return this._closed(this.#explained(error));
      this.#isSubscribed = true;
      this.#take(result, reason);
    });
  }

  /** The whole state has come, for a reason where it was not the first one. */
  #take(snapshot, reason) {
    const before = this.#drawn;
    this.#unchecked = 0;
    this.#replica.take(snapshot);
    this.#publish();
    if (reason) this.#client._emit("resynchronised", { store: this.name, reason, before });
  }

  #check(connection, checked) {
    this.#unchecked = 0;
    connection.call("store/state", { store: this.name }, (error, result) => {
      if (error) return checked(this.#explained(error));
      const isFollowed = this.#isSubscribed && !this.#isSynchronising;
      const reason = isFollowed ? this.#replica.difference(result) : undefined;
      if (!reason) return checked(undefined, true);
      this.#client._emit("problem", { store: this.name, reason });
      this.#take(result, reason);
      checked(undefined, false);
    });
  }

  #draw() {
    if (!this.#replica.isKnown) return (this.#drawn = undefined);
    this.#drawn = this.#replica.state;
    for (const entry of this.#optimistic) {
      try {
        this.#drawn = entry.draw(this.#drawn);
      } catch (error) {
        // It cannot be drawn on this state; the answer will show what has become of it.
        this.#optimistic.delete(entry);
        guarded(() => {
          throw error;
        });
      }
    }
  }

  #publish() {
    this.#draw();
    if (this.#replica.isKnown)
      for (const { changed } of [...this.#watchers]) guarded(changed, this.#drawn);
  }
}

// Promise.withResolvers is younger than what we support.
function withResolvers() {
  let resolve, reject;
  const promise = new Promise((...functions) => ([resolve, reject] = functions));
  return { promise, resolve, reject };
}

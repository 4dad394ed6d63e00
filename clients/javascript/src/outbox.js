// SPDX-License-Identifier: Apache-2.0
//
// The inputs that have not been answered, in their order. A frontend with a name numbers them, so
// that all of them can be sent again over a new connection: what was accepted before is not applied
// twice. Without a name nobody can know what has become of them, and they end with the connection.

import { Backoff } from "./backoff.js";
import { ConnectionLostError, LimitError, OutOfOrderError, OverflowError } from "./errors.js";

export class Outbox {
  #entries = new Set();
  #connection;
  #sequence = 0;
  #isNamed;
  #maximum;
  #backoff;
  /** Set while the server has refused an input for the moment: nothing is sent until it is asked again. */
  #pause;
  /** Why nothing will be sent any more. */
  #end;
  /** The lowest number that was refused for the moment: the server waits for it. */
  #place;

  constructor({ isNamed, maximum, backoff }) {
    this.#isNamed = isNamed;
    this.#maximum = maximum;
    this.#backoff = new Backoff(backoff);
  }

  get size() {
    return this.#entries.size;
  }

  /**
   * Sends an input when there is a connection. `entry` has `params()` for the request,
   * `prepare(connection)`, called before it is sent, and `answered(error, result)`.
   */
  add(entry) {
    if (this.#end) return entry.answered(this.#end);
    if (this.#entries.size >= this.#maximum)
      return entry.answered(new OverflowError("too many inputs wait for their answer"));
    this.#entries.add(entry);
    if (this.#connection && !this.#pause) this.#send(entry);
  }

  /** Forgets an input. If it was sent, the server is asked to end its effects. */
  cancel(entry) {
    if (!this.#entries.delete(entry)) return;
    if (entry.connection && entry.connection === this.#connection && !entry.wasRefused)
      entry.connection.notify("$/cancelRequest", { id: entry.id });
  }

  /** A connection is there whose session has accepted numbers up to `accepted`. */
  resume(connection, accepted) {
    this.#connection = connection;
    this.#pause = this.#place = undefined;
    this.#sequence = Math.max(this.#sequence, accepted ?? 0);
    // Also those that were accepted: the answer is still wanted.
    for (const entry of this.#entries) this.#send(entry);
  }

  lost() {
    this.#connection = undefined;
    clearTimeout(this.#pause);
    if (!this.#isNamed) this.fail(new ConnectionLostError("the connection was lost"));
  }

  /** The session is over: what was sent to it cannot be sent to another one, what was not can. */
  fail(error) {
    for (const entry of [...this.#entries]) if (entry.connection) this.#answer(entry, error);
  }

  /** The session is a new one: its numbers begin again. */
  restart() {
    this.#sequence = 0;
    for (const entry of this.#entries) entry.sequence = undefined;
  }

  end(error) {
    this.#end = error;
    clearTimeout(this.#pause);
    for (const entry of [...this.#entries]) this.#answer(entry, error);
  }

  #answer(entry, error, result) {
    if (this.#entries.delete(entry)) entry.answered(error, result);
  }

  #send(entry) {
    const connection = this.#connection;
    entry.prepare(connection);
    const params = entry.params();
    if (this.#isNamed) params.sequence = entry.sequence ??= ++this.#sequence;
    entry.connection = connection;
    entry.wasRefused = false;
    entry.id = connection.call("store/send", params, (error, result) => {
      // An answer to an input that was given up or, after a loss, sent again is nobody's.
      if (!this.#entries.has(entry) || entry.connection !== connection) return;
      if (error instanceof ConnectionLostError) return;
      if (this.#isNamed && isForTheMoment(error)) this.#refused(entry);
      else {
        if (!error) this.#backoff.reset();
        this.#answer(entry, error, result);
      }
    });
  }

  #refused(entry) {
    entry.wasRefused = true;
    this.#place = Math.min(this.#place ?? Infinity, entry.sequence);
    this.#pause ??= setTimeout(() => this.#knock(), this.#backoff.next());
  }

  // After the answer to a ping all that was sent before it has been refused or accepted: no number
  // from the lowest refused one on has been used. The server waits for that one, even if its input
  // was given up meanwhile, so counting goes on there.
  #knock() {
    const connection = this.#connection;
    connection?.call("ping", {}, (error) => {
      if (error || connection !== this.#connection) return;
      this.#sequence = this.#place - 1;
      this.#pause = this.#place = undefined;
      for (const entry of this.#entries) {
        const isBeingWorkedOn = entry.connection === connection && !entry.wasRefused;
        if (isBeingWorkedOn) continue;
        entry.sequence = undefined;
        this.#send(entry);
      }
    });
  }
}

/** Whether the same input may be accepted later, and keeps its place until then. */
function isForTheMoment(error) {
  return (
    error instanceof OutOfOrderError ||
    (error instanceof LimitError &&
      ["inputsPerSecond", "openRequests", "outboxBytes"].includes(error.limit))
  );
}

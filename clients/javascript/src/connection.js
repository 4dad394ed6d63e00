// SPDX-License-Identifier: Apache-2.0
//
// One JSON-RPC connection over a channel: requests find their answers, notifications go to one
// listener, and when it ends everything that waits is told.
//
// Callbacks are called while a message is read, in the order of the messages: the frames that
// follow an answer find what the answer has set up. Promises would come too late for that.

import { ConnectionLostError, rpcError, StatewireError } from "./errors.js";

export class Connection {
  #channel;
  #waiting = new Map();
  #lastId = 0;
  #listener;
  #heartbeat;
  #timer;
  #isOver = false;
  #pings = false;

  /**
   * Opens a channel. `listener.notified(method, params)` is told of notifications,
   * `listener.ended(error)` once of the end. `heartbeat` is in milliseconds: a connection that has
   * been silent for so long is asked whether it lives, and ended where it does not say so in as long.
   */
  static async open(dial, listener, { heartbeat = 20_000, signal } = {}) {
    const connection = new Connection();
    connection.#listener = listener;
    connection.#heartbeat = heartbeat;
    connection.#channel = await dial({
      message: (text) => connection.#read(text),
      closed: (cause) => connection.#end(cause),
      signal,
    });
    if (connection.#isOver) throw new ConnectionLostError("the connection ended at once");
    connection.#beat();
    return connection;
  }

  get isOver() {
    return this.#isOver;
  }

  /** Sends a request; `answered(error, result)` is called once. Returns the request's id. */
  call(method, params, answered) {
    const id = ++this.#lastId;
    if (this.#isOver) {
      queueMicrotask(() => answered(new ConnectionLostError("the connection has ended")));
      return id;
    }
    this.#waiting.set(id, answered);
    this.#channel.send(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
    return id;
  }

  request(method, params) {
    return new Promise((resolve, reject) =>
      this.call(method, params, (error, result) => (error ? reject(error) : resolve(result))),
    );
  }

  notify(method, params) {
    if (!this.#isOver) this.#channel.send(JSON.stringify({ jsonrpc: "2.0", method, params }));
  }

  /** Ends the connection. What waits is told that it was lost. */
  close(cause) {
    this.#end(cause);
  }

  #read(text) {
    if (this.#isOver) return;
    this.#beat();
    let message;
    try {
      message = JSON.parse(text);
    } catch (cause) {
      return this.#end(new StatewireError("the server sent what is no JSON", { cause }));
    }
    if (Array.isArray(message)) for (const member of message) this.#take(member);
    else this.#take(message);
  }

  #take(message) {
    if (message.method !== undefined)
      return this.#listener.notified(message.method, message.params ?? {});
    const answered = this.#waiting.get(message.id);
    if (answered) {
      this.#waiting.delete(message.id);
      if (message.error) answered(rpcError(message.error));
      else answered(undefined, message.result);
    } else if (message.id === null && message.error)
      // Often the last that the server says: why it closes the connection.
      this.#listener.refused?.(rpcError(message.error));
  }

  #end(cause) {
    if (this.#isOver) return;
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.#channel?.close();
    const error = new ConnectionLostError("the connection was lost", { cause });
    const waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const answered of waiting) answered(error);
    this.#listener.ended(error);
  }

  #lastHeard = 0;

  // A timer that is set anew with each message costs more than the message: it looks at the clock.
  #beat() {
    this.#lastHeard = Date.now();
    if (this.#timer === undefined && this.#heartbeat) this.#watch(this.#heartbeat);
  }

  #watch(delay) {
    this.#timer = setTimeout(() => {
      const silent = Date.now() - this.#lastHeard;
      if (silent < this.#heartbeat) {
        this.#pings = false;
        return this.#watch(this.#heartbeat - silent);
      }
      if (this.#pings) return this.#end(new StatewireError("the server has fallen silent"));
      this.#pings = true;
      this.call("ping", {}, () => {});
      this.#watch(this.#heartbeat);
    }, delay);
  }
}

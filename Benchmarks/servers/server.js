// SPDX-License-Identifier: Apache-2.0
//
// The server in Node: its own modules, patches written by hand.
// Usage: node server.js PORT | node server.js stdio.
"use strict";

const net = require("node:net");

/** The one store of a connection. */
class Service {
  todos = [];
  made = 0;
  revision = 0;
  isContent = false;
  isSubscribed = false;

  append(title) {
    const todo = { id: String(++this.made), title, completed: false };
    this.todos.push(todo);
    return todo;
  }

  /** Returns the index of a todo, or -1. Ids increase, because todos never move. */
  place(id) {
    const wanted = Number(id);
    let low = 0, high = this.todos.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (Number(this.todos[middle].id) < wanted) low = middle + 1;
      else high = middle;
    }
    return low < this.todos.length && this.todos[low].id === id ? low : -1;
  }

  state() {
    return this.isContent ? { type: "content", todos: this.todos } : { type: "loading" };
  }

  /** Carries out an input and returns the operations of its update. */
  change(input) {
    if (input.type === "todoAdded") {
      const value = this.append(input.title);
      return [{ op: "add", path: `/todos/${this.todos.length - 1}`, value }];
    }
    if (input.type === "stateRequested") {
      if (this.isContent) return [];
      this.isContent = true;
      return [{ op: "replace", path: "", value: this.state() }];
    }
    const place = this.place(input.id);
    if (place < 0) return [];
    if (input.type === "todoRemoved") {
      this.todos.splice(place, 1);
      return [{ op: "remove", path: `/todos/${place}` }];
    }
    if (input.type === "todoRenamed") {
      this.todos[place].title = input.title;
      return [{ op: "replace", path: `/todos/${place}/title`, value: input.title }];
    }
    throw new Error(`no such input: ${input.type}`);
  }

  /** Returns the update that a request causes, if any, and its response. */
  respond({ id, method, params }) {
    let update = "", result;
    if (method === "store/send") {
      const patch = this.change(params.input);
      if (patch.length) {
        const base = this.revision++;
        if (this.isSubscribed)
          update = `${JSON.stringify({
            jsonrpc: "2.0", method: "store/changed",
            params: { store: "todo", base, revision: this.revision, patch, applied: id },
          })}\n`;
      }
      result = { revision: this.revision, changed: patch.length > 0 };
    } else if (method === "store/open") {
      for (let number = 1; number <= params.config.memory.count; number++) this.append(`Todo ${number}`);
      result = { revision: 0 };
    } else if (method === "store/subscribe") {
      this.isSubscribed = true;
      result = { revision: this.revision, state: this.state() };
    } else if (method === "store/state") {
      result = { revision: this.revision, state: this.state(), digest: digest(this.state()) };
    } else throw new Error(`no such method: ${method}`);
    return `${update}${JSON.stringify({ jsonrpc: "2.0", id, result })}\n`;
  }

  take(line) {
    let id = null;
    try {
      const request = JSON.parse(line);
      id = request.id;
      return this.respond(request);
    } catch (error) {
      return `${JSON.stringify({ jsonrpc: "2.0", id, error: { code: -32602, message: error.message } })}\n`;
    }
  }
}

/** Returns the CRC-32 of the state in RFC 8785 form. */
function digest(state) {
  const sorted = (_, value) =>
    value && typeof value === "object" && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
      : value;
  let crc = ~0;
  for (const byte of Buffer.from(JSON.stringify(state, sorted))) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  }
  return ~crc >>> 0;
}

/** Serves one connection line by line, with one write per turn. */
function serve(input, output) {
  const service = new Service();
  let partial = "";
  input.setEncoding("utf8");
  input.on("data", (text) => {
    const lines = (partial + text).split("\n");
    partial = lines.pop();
    let out = "";
    for (const line of lines) out += service.take(line);
    if (out) output.write(out);
  });
  input.on("error", () => {});
}

if (process.argv[2] === "stdio") {
  serve(process.stdin, process.stdout);
} else {
  net
    .createServer({ noDelay: true }, (socket) => serve(socket, socket))
    .listen({ port: Number(process.argv[2]), host: "127.0.0.1", backlog: 4096 });
}

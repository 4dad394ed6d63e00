// SPDX-License-Identifier: Apache-2.0
//
// Frames that the program refuses, with and without reported limits.

import assert from "node:assert/strict";
import { test } from "node:test";

import { Client, dial, LimitError } from "../node.js";
import { serve } from "./support/server.js";

for (const [name, tells] of [["limits that the server reports", true], ["limits that it does not report", false]])
  for (const listener of ["--tcp", "--web"])
    test(`an input above ${name} fails; the inputs around it are applied: ${listener}`, async () => {
      const server = await serve(listener, "127.0.0.1:0", "--maximum-frame-bytes", "5000");
      const scheme = { "--tcp": "tcp", "--web": "ws" }[listener];
      const client = new Client(silent(dial(`${scheme}://${server.address.split("/")[0]}`), tells));
      try {
        const store = client.store("list", { kind: "todo", config: { memory: {} } });
        store.subscribe(() => {});
        let nested = [];
        for (let level = 0; level < 200; level++) nested = [nested];
        const add = (title, members) => store.send({ type: "todoAdded", title, ...members });
        const responses = await Promise.allSettled([
          store.send({ type: "stateRequested" }),
          add("first"),
          add("é".repeat(2600)),
          add("second"),
          add("nested", { nested }),
          add("third"),
        ]);
        const refusals = responses.map(({ reason }) => reason?.limit ?? "none");
        assert.equal(refusals.join(" "), "none none frameBytes none nesting none");
        for (const { reason } of responses) assert.ok(!reason || reason instanceof LimitError);
        assert.deepEqual(store.state.todos.map(({ title }) => title), ["first", "second", "third"]);
        assert.equal(client.pending, 0);
      } finally {
        client.close();
        await server.stop();
      }
    });

/** Dials a server that reports its limits, or one that does not. */
function silent(dial, tells) {
  if (tells) return dial;
  return (listener) =>
    dial({
      ...listener,
      message: (text) => {
        const message = JSON.parse(text);
        delete message.result?.limits;
        listener.message(JSON.stringify(message));
      },
    });
}

// SPDX-License-Identifier: Apache-2.0
//
// Compiled, never run: uses that the declarations allow, and uses that they reject.

import { applyPatch, connect, InvalidParamsError, Store, StoreKinds } from "../index.js";
import { connect as connectFromNode, spawn } from "../node.js";
import { after, Refusal, run, serve, StoreKind, TestStore } from "../stores.js";

declare module "../index.js" {
  interface StoreKinds {
    stopwatch: {
      input: { type: "startTapped" };
      state: { seconds: number };
      event: never;
      config: {};
    };
  }
}

export async function uses() {
  const client = connect("ws://localhost/", { frontend: "page", backoff: { maximum: 5000 } });
  client.on("status", (status) => status.state === "reconnecting" && status.retryAt.toFixed());
  // @ts-expect-error: there is no such event
  client.on("nothing", () => {});

  const todo: Store<StoreKinds["todo"]> = client.store("todo");
  for await (const state of todo) if (state.type === "content") state.todos[0]?.title.trim();
  await todo.send({ type: "todoMoved", id: "1" }, { optimistic: (state) => state, settle: true });
  // @ts-expect-error: the title is missing
  await todo.send({ type: "todoAdded" });
  // @ts-expect-error: there is no such input
  await todo.send({ type: "todoEaten" });

  const list = client.store("list", { kind: "todo", config: { memory: { count: 1 } } });
  list.subscribe((state) => state.type);
  // @ts-expect-error: no such state
  list.subscribe((state) => state.type === "eaten");

  client.store("form").onEvent((event) => event.type === "submitted");
  const loader = client.store("a", {
    kind: "loading",
    config: { type: "timeout", interval: 2, of: { type: "source", name: "user" } },
  });
  for await (const state of loader.states({ signal: new AbortController().signal }))
    if (state.type === "loading") state.progress?.percent?.toFixed();
  (await client.store("stopwatch").send({ type: "startTapped" })).revision.toFixed();

  try {
    await client.request("ping");
  } catch (error) {
    if (error instanceof InvalidParamsError) error.path?.length;
  }
  applyPatch({ a: 1 }, [{ op: "replace", path: "/a", value: 2 }]).a.toFixed();
  connectFromNode("tls://host:1", { tls: { ca: "…" } }).close();
  await spawn("statewire", ["serve"]).endSession();
}

type Counter = { count: number };
type CounterInput = { type: "incrementTapped" } | { type: "resetTapped"; at?: number };

export const counter: StoreKind<Counter, CounterInput, { first?: number }> = {
  initial: ({ first }) => ({ count: first ?? 0 }),
  update(state, input, context) {
    if (input.type === "resetTapped") return [{ count: 0 }, after(1000, { type: "incrementTapped" })];
    if (context.viewer.role === "observer") throw new Refusal("observers do not count", ["type"]);
    // @ts-expect-error: a state has a number.
    const wrong: Counter = { count: "1" };
    return state.count < 10 ? { count: state.count + 1 } : [undefined, [run("save", wrong, { debounce: 100, id: "s" })]];
  },
  view: ({ count }, { frontend }) => ({ count, frontend }),
  runs: { save: async (board, { signal, send }) => signal.aborted || send(board) },
};

export async function testsStores() {
  const store = new TestStore(counter, { configuration: { first: 1 } });
  await store.send({ type: "incrementTapped" }, { role: "driver" });
  const count: number = store.state.count;
  // @ts-expect-error: there is no such input.
  await store.send({ type: "decrementTapped" });
  serve(counter, import.meta);
  return count;
}

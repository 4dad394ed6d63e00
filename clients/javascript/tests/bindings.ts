// SPDX-License-Identifier: Apache-2.0
//
// Compiled, never run: uses that the declarations of the bindings allow, and uses that they reject.

import type { Ref } from "vue";

import { Client, connect } from "../index.js";
import { useStore as useInReact } from "../react.js";
import { useStore as useInSvelte } from "../svelte.js";
import { useStore as useInVue } from "../vue.js";

interface Chess {
  input: { type: "moved"; from: string };
  state: { moves: string[] };
  event: never;
  config: { white: string };
}

export function react(client: Client | undefined) {
  const { state, status, error, isOptimistic, send, retry } = useInReact(client, "todo");
  if (state?.type === "content") state.todos[0]?.title.trim();
  if (status.state === "reconnecting") status.retryAt.toFixed();
  if (error) retry();
  if (!isOptimistic) send({ type: "todoAdded", title: "Milk" }, { optimistic: (state) => state }).catch(() => {});
  // @ts-expect-error: there is no such input
  send({ type: "todoEaten" });
  // @ts-expect-error: the state can be undefined
  state.type;

  const list = useInReact(client, "list", { kind: "todo", config: { memory: { count: 1 } } });
  if (list.state?.type === "content") list.state.todos.length.toFixed();
  const chess = useInReact<Chess>(client, "chess", { kind: "chess", config: { white: "me" } });
  chess.state?.moves.join();
  chess.send({ type: "moved", from: "e2" });
}

export function vue(client: Ref<Client | undefined>, name: Ref<string>) {
  const { state, send } = useInVue(client, "todo");
  if (state.value?.type === "content") state.value.todos[0]?.title.trim();
  const list = useInVue(() => connect("ws://localhost/"), name, () => ({ kind: "todo" as const }));
  if (list.state.value?.type === "content") list.error.value?.message;
  const chess = useInVue<Chess>(client, name, { kind: "chess" });
  chess.send({ type: "moved", from: chess.state.value?.moves[0] ?? "" });
  // @ts-expect-error: there is no such input
  send({ type: "moved" });
}

export function svelte(client: Client) {
  const todo = useInSvelte(client, "todo");
  const stop = todo.subscribe(({ state }) => state?.type === "content" && state.todos.length);
  stop();
  useInSvelte<Chess>(client, "chess", { kind: "chess" }).send({ type: "moved", from: "e2" });
}

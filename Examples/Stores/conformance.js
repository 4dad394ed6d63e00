// SPDX-License-Identifier: Apache-2.0
//
// The conformance store of Tests/Stores/README.md, with the library for JavaScript.

import { action, after, cancel, event, every, redacted, Refusal, run, serve } from "../../clients/javascript/stores.js";

function initial({ count = 0, items = 0 }) {
  if (count < 0) throw new Refusal("the count is negative", ["count"]);
  const numbered = Array.from({ length: items }, (_, index) => ({ id: `${index + 1}`, title: `Item ${index + 1}` }));
  return { count, items: numbered, map: {}, last: null, log: [], viewers: [] };
}

function inserted(items, item, before) {
  const found = items.findIndex(({ id }) => id === before);
  const at = found < 0 ? items.length : found;
  return [...items.slice(0, at), item, ...items.slice(at)];
}

const update = (state, received, context) => (context.isAction ? acted : changed)(state, received, context);

/** Returns the state after an input. */
function changed(state, received, context) {
  const { items } = state;
  const item = items.find(({ id }) => id === received.id);
  const others = items.filter((other) => other !== item);
  switch (received.type) {
    case "add":
      if (!Number.isInteger(received.by)) throw new Refusal("by is not an integer", ["by"]);
      return { ...state, count: state.count + received.by };
    case "insert": {
      const { id, title, before } = received;
      if (title === "") throw new Refusal("the title is empty", ["title"]);
      return { ...state, items: inserted(items, { id, title }, before) };
    }
    case "insertAll": {
      const empty = received.items.findIndex(({ title }) => title === "");
      if (empty >= 0) throw new Refusal("the title is empty", ["items", empty, "title"]);
      return { ...state, items: [...items, ...received.items] };
    }
    case "remove":
      return item && { ...state, items: others };
    case "move":
      return item && { ...state, items: inserted(others, item, received.before) };
    case "rename":
      return item && {
        ...state,
        items: items.map((other) => (other === item ? { ...item, title: received.title } : other)),
      };
    case "put": {
      const { [received.key]: _, ...entries } = state.map;
      if (received.value === null) return { ...state, map: entries };
      if (Object.keys(entries).length === 4) throw new Refusal("the map is full", [], "mapKeys");
      return { ...state, map: { ...state.map, [received.key]: received.value } };
    }
    case "echo":
      return { ...state, last: received.value };
    case "look":
      return { ...state, last: { now: context.now, viewer: context.viewer, name: context.name } };
    case "nothing":
      return state;
    case "chain":
      return acted(state, { ...received, type: "chained" }, context);
    case "wait":
      return [state, after(received.milliseconds, { type: "woke" }, "wait")];
    case "start":
      return [state, every(received.milliseconds, { type: "woke" }, "ticks")];
    case "stop":
      return [state, [cancel("wait"), cancel("ticks")]];
    case "work":
      return [state, run("work", received.arguments, { failed: { type: "workFailed" }, ...received.policies })];
    case "shout":
      return [state, [
        event({ type: "shouted", text: received.text }, received.to ?? undefined),
        event({ type: "echoed" }),
      ]];
    case "hide":
      return [{ ...state, last: null }, redacted()];
    case "crash":
      throw new Error("the program has failed");
    default:
      throw new Refusal("unknown type", ["type"]);
  }
}

/** Returns the state after an action. */
function acted(state, { type, n, value }, { error }) {
  const { log } = state;
  switch (type) {
    case "chained":
      return [{ ...state, count: state.count + 1 }, n > 1 ? action({ type: "chained", n: n - 1 }) : []];
    case "woke":
      return { ...state, log: [...log, "woke"] };
    case "worked":
      return { ...state, last: value, log: [...log, "worked"] };
    case "workFailed":
      return { ...state, log: [...log, `failed: ${error.reason}`] };
  }
}

function work(args, { attempt, signal, send }) {
  switch (args.do) {
    case "give":
      return { type: "worked", value: args.value };
    case "fail":
      throw new Error(args.message);
    case "count":
      for (let value = 1; value <= args.to; value++) send({ type: "worked", value });
      return undefined;
    case "retry":
      if (attempt < args.attempts) throw new Error("not yet");
      return { type: "worked", value: attempt };
    case "wait":
      return new Promise((resolve) => signal.addEventListener("abort", () => resolve()));
  }
}

serve({
  initial,
  update,
  view: ({ count, items }, { frontend }, { view }) =>
    view ? { count, items, ...(frontend === null ? {} : { you: frontend }) } : undefined,
  viewsBy: "frontend",
  viewers: (state, viewers) => ({ ...state, viewers: viewers.map(({ frontend }) => frontend).filter((name) => name) }),
  version: 2,
  migrate: (version, { number, titles }) => ({
    ...initial({ count: number }),
    items: titles.map((title, index) => ({ id: `${index + 1}`, title })),
  }),
  runs: { work },
});

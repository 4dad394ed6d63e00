// SPDX-License-Identifier: Apache-2.0

import { $, element, write } from "./dom.js";

const loading = (percent, message = null) => ({
  type: "loading",
  progress: { percent, message, isCancelled: false },
});
const steps = (after, percents, value) => ({
  type: "mock",
  states: [
    ...percents.map((percent) => ({ after, state: loading(percent) })),
    { after, state: { type: "loaded", value } },
  ],
});
const failing = {
  type: "mock",
  states: [
    { state: loading(null, "Asking…") },
    { after: 1, state: { type: "failure", error: { code: "source.failed", message: "It did not answer" } } },
  ],
};

/** What the gallery shows: a name, what it is about, and the loader itself. */
const gallery = [
  ["Download", "Tells how far it is.", steps(0.4, [0, 7, 18, 34, 52, 71, 88, 96], "4.2 MB")],
  [
    "Unsteady",
    "Tried three times, with longer and longer waits.",
    { type: "retry", maxAttempts: 3, backoff: { type: "exponential", base: 2 }, of: failing },
  ],
  ["Too slow", "Given two seconds, needs six.", { type: "timeout", interval: 2, of: steps(3, [20], "late") }],
  [
    "Kept",
    "Slow once, then at hand for half a minute.",
    { type: "cache", key: "kept", ttl: 30, of: steps(0.5, [25, 50, 75], "from the cellar") },
  ],
  [
    "All at once",
    "Three at a time; the bar is their mean.",
    {
      type: "all",
      of: [steps(0.5, [0, 50], "fast"), steps(0.8, [0, 30, 60], "steady"), steps(1, [0, 20, 40, 60, 80], "slow")],
    },
  ],
  [
    "Debounced",
    "Waits until you have stopped asking.",
    { type: "debounce", interval: 0.8, of: steps(0.5, [40], "asked once") },
  ],
];

/** A gallery of loaders, each a store of its own. */
export function loaders(client) {
  $("#gallery").append(
    ...gallery.map(([name, about, config]) => {
      const id = `loader-${name.toLowerCase().replaceAll(" ", "-")}`;
      return card(client.store(id, { kind: "loading", config }), id, name, about);
    }),
  );
}

function card(store, id, name, about) {
  const button = (text, type, className) =>
    element("button", {
      textContent: text,
      className,
      "aria-label": `${text}: ${name}`,
      onclick: () => store.send({ type }).catch(() => {}),
    });
  const load = button("Load", "load", "main");
  const cancel = button("Cancel", "cancel", "quiet");
  const reset = button("Reset", "reset", "quiet");
  const bar = element("i");
  const meter = element("div", {
    className: "meter",
    role: "progressbar",
    "aria-label": name,
    "aria-valuemin": 0,
    "aria-valuemax": 100,
  }, bar);
  const status = element("p", { className: "soft", role: "status" });
  const percent = element("b", { className: "percent", "aria-hidden": "true" });
  const node = element("article", { id, "aria-labelledby": `${id}-name` },
    element("h3", { id: `${id}-name` }, name),
    percent,
    element("p", { className: "about" }, about),
    meter,
    status,
    element("div", { className: "row" }, load, cancel, reset),
  );

  store.watch((state) => {
    const progress = state.progress ?? {};
    const goesOn = state.type === "loading" && !progress.isCancelled;
    const known = goesOn ? progress.percent : state.type === "loaded" ? 100 : null;
    node.dataset.state = progress.isCancelled ? "cancelled" : state.type;
    bar.style.width = `${known ?? (goesOn ? 30 : 0)}%`;
    meter.classList.toggle("unknown", goesOn && typeof known !== "number");
    if (typeof known === "number") meter.setAttribute("aria-valuenow", known);
    else meter.removeAttribute("aria-valuenow");
    write(percent, goesOn && typeof known === "number" ? `${known}%` : "");
    say(status, state);
    const focused = document.activeElement;
    load.hidden = progress.isCancelled ?? false;
    cancel.hidden = !goesOn;
    reset.hidden = goesOn || state.type === "idle";
    write(load, { failure: "Try again", loaded: "Load again" }[state.type] ?? "Load");
    load.setAttribute("aria-label", `${load.textContent}: ${name}`);
    // Who uses the keyboard would fall out of the page with a button that goes.
    if (focused.hidden && node.contains(focused))
      [cancel, reset, load].find((button) => !button.hidden).focus();
  });
  return node;
}

function say(status, state) {
  if (state.type === "failure") {
    if (status.dataset.said !== state.error.message)
      status.replaceChildren(
        element("span", { className: "sr" }, "An error occurred. "),
        `Error: ${state.error.message}`,
      );
    return (status.dataset.said = state.error.message);
  }
  delete status.dataset.said;
  const { progress, value } = state;
  write(
    status,
    progress?.isCancelled
      ? "Loading cancelled."
      : state.type === "loading"
        ? (progress?.message ?? "Loading…")
        : state.type === "loaded"
          ? `Loaded: ${[value].flat().join(", ")}`
          : "Not loaded yet",
  );
}

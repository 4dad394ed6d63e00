// SPDX-License-Identifier: Apache-2.0

export const $ = (selector, root = document) => root.querySelector(selector);

/** An element with its properties; those with a dash, and role, are attributes. */
export function element(tag, properties = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(properties))
    if (name.includes("-") || name === "role") node.setAttribute(name, value);
    else node[name] = value;
  node.append(...children);
  return node;
}

/** An icon: the path of a drawing of 24 by 24. */
export function icon(path) {
  const holder = document.createElement("template");
  holder.innerHTML = `<svg viewBox="0 0 24 24" aria-hidden="true"><path d="${path}"/></svg>`;
  return holder.content.firstChild;
}

/** Writes a text only where it is another one: live regions are read out at each change. */
export function write(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/** Tells a screen reader what everybody else sees. */
export function announce(text) {
  $("#announcement").textContent = text;
}

export const isStill = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

/** Shows a store's revision in the head of its section, and that it has moved on. */
export function showRevision(section, store) {
  const mark = $(".revision", section);
  const text = store.revision === null ? "" : `r${store.revision}`;
  if (mark.textContent === text) return;
  mark.textContent = text;
  if (!isStill()) mark.animate([{ color: "var(--accent)" }, {}], 900);
}

/** What a refused input says to whoever made it. */
export const reason = (error) => error.message.replace(/^./, (first) => first.toUpperCase()) + ".";

// SPDX-License-Identifier: Apache-2.0

import { connect } from "/client/index.js";

const columns = ["todo", "doing", "done"];
const find = (selector) => document.querySelector(selector);

const scheme = location.protocol === "https:" ? "wss" : "ws";
const client = connect(`${scheme}://${location.host}/`);
const desk = client.store("desk");

/** Sends an input, and shows the reason if it is refused. */
async function send(input) {
  try {
    await desk.send(input);
    find("#problem").textContent = "";
  } catch (error) {
    find("#problem").textContent = error.message;
  }
}
const board = (input) => send({ type: "kanban", input });
const move = (id, column, before = null) => board({ type: "cardMoved", id, column, before });

/** A button with a text and a name for screen readers. */
function button(text, name, action) {
  const made = document.createElement("button");
  made.textContent = text;
  made.ariaLabel = made.title = name;
  made.onclick = action;
  return made;
}

function item({ id, title }, column) {
  const made = document.createElement("li");
  const text = document.createElement("span");
  text.textContent = title;
  made.draggable = true;
  made.dataset.id = id;
  made.ondragstart = (event) => event.dataTransfer.setData("text/plain", id);
  const [left, right] = [-1, 1].map((step) => columns[columns.indexOf(column) + step]);
  if (left) made.append(button("←", `Move ${title} to ${left}`, () => move(id, left)));
  made.append(text);
  if (right) made.append(button("→", `Move ${title} to ${right}`, () => move(id, right)));
  made.append(button("×", `Remove ${title}`, () => board({ type: "cardRemoved", id })));
  return made;
}

for (const column of columns) {
  const section = find(`#${column}`);
  section.ondragover = (event) => event.preventDefault();
  section.ondrop = (event) => {
    event.preventDefault();
    const before = event.target.closest("li")?.dataset.id ?? null;
    const id = event.dataTransfer.getData("text/plain");
    if (id !== before) move(id, column, before);
  };
}

find("form").onsubmit = (event) => {
  event.preventDefault();
  const field = event.target.elements.title;
  board({ type: "cardAdded", title: field.value.trim(), column: "todo" });
  field.value = "";
};
find("#undo").onclick = () => board({ type: "undoTapped" });
find("#redo").onclick = () => board({ type: "redoTapped" });

let isRunning = false;
find("#timer").onclick = () =>
  send({ type: "timer", input: isRunning ? { type: "stopTapped" } : { type: "startTapped", seconds: 25 * 60 } });

// The lists whose cards have not changed keep their elements: a state shares its unchanged parts with the one before.
const drawn = {};
desk.subscribe(({ kanban, timer }) => {
  for (const column of columns) {
    const cards = kanban.board[column];
    if (drawn[column] !== cards) find(`#${column} ol`).replaceChildren(...cards.map((card) => item(card, column)));
    drawn[column] = cards;
  }
  find("#undo").disabled = !kanban.canUndo;
  find("#redo").disabled = !kanban.canRedo;
  find("#saving").textContent = { saving: "Saving…", saved: "Saved", failed: "Not saved" }[kanban.saving];
  isRunning = timer.secondsLeft > 0;
  find("#left").textContent = isRunning
    ? `${Math.floor(timer.secondsLeft / 60)}:${String(timer.secondsLeft % 60).padStart(2, "0")}` : "";
  find("#timer").textContent = isRunning ? "Stop" : "Start 25 minutes";
});
desk.onEvent(() => { find("#problem").textContent = "The time for work is over."; });

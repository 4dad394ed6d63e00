// SPDX-License-Identifier: Apache-2.0
//
// A kanban board whose last changes can be undone, and which is saved one second after the last change. It has the
// inputs and view states of Examples/Kanban/Kanban.swift. KANBAN_FILE is the file (board.json).

import { writeFile } from "node:fs/promises";
import { Refusal, run, serve } from "../../clients/javascript/stores.js";

const columns = ["todo", "doing", "done"];
const id = { type: "string" };
const column = { enum: columns };

/** The schema of an input; members whose names end with `?` may be missing. */
function input(type, members = {}) {
  const entries = Object.entries(members).map(([name, schema]) => [name.replace("?", ""), schema]);
  const required = Object.keys(members).filter((name) => !name.endsWith("?"));
  return { type: "object", properties: { type: { const: type }, ...Object.fromEntries(entries) }, required: ["type", ...required] };
}

const schemas = {
  input: {
    anyOf: [
      input("cardAdded", { title: { type: "string" }, column }),
      input("cardMoved", { id, column, "before?": { type: ["string", "null"] } }),
      input("cardRemoved", { id }),
      input("undoTapped"),
      input("redoTapped"),
    ],
  },
  viewState: {
    type: "object",
    properties: {
      board: {
        type: "object",
        properties: Object.fromEntries(columns.map((name) => [name, { type: "array" }])),
        required: columns,
      },
      canUndo: { type: "boolean" },
      canRedo: { type: "boolean" },
      saving: { enum: ["saving", "saved", "failed"] },
    },
    required: ["board", "canUndo", "canRedo", "saving"],
  },
};

const initial = {
  board: { todo: [], doing: [], done: [] },
  undo: [],
  redo: [],
  changes: 0,
  // Undo and redo count here too: work that has saved an older board changes nothing.
  edits: 0,
  saving: "saved",
};

/** A column without the card stays the same object, so it is neither compared nor sent. */
function without(board, id) {
  const rest = (cards) => (cards.some((card) => card.id === id) ? cards.filter((card) => card.id !== id) : cards);
  return Object.fromEntries(columns.map((name) => [name, rest(board[name])]));
}

function including(board, card, column, before = null) {
  const cards = board[column];
  const found = cards.findIndex(({ id }) => id === before);
  const index = found < 0 ? cards.length : found;
  return { ...board, [column]: [...cards.slice(0, index), card, ...cards.slice(index)] };
}

function changed(state, board) {
  const undo = [...state.undo.slice(-49), state.board];
  return saving({ ...state, board, undo, redo: [], changes: state.changes + 1 });
}

function saving(state) {
  const edits = state.edits + 1;
  const work = { edits, board: state.board };
  const policies = { id: "save", debounce: 1000, latest: true, failed: { type: "saveFailed" }, restart: "again" };
  return [{ ...state, edits, saving: "saving" }, run("save", work, policies)];
}

function update(state, event, context) {
  const { board, undo, redo } = state;
  const card = columns.flatMap((name) => board[name]).find((card) => card.id === event.id);
  if (context.isAction) {
    if (event.type === "saveFailed") return { ...state, saving: "failed" };
    return event.edits === state.edits ? { ...state, saving: "saved" } : state;
  }
  switch (event.type) {
    case "cardAdded":
      if (event.title === "") throw new Refusal("a card needs a title", ["title"]);
      return changed(state, including(board, { id: `${state.changes + 1}`, title: event.title }, event.column));
    case "cardMoved":
      return card && changed(state, including(without(board, event.id), card, event.column, event.before));
    case "cardRemoved":
      return card && changed(state, without(board, event.id));
    case "undoTapped":
      if (undo.length === 0) return state;
      return saving({ ...state, board: undo.at(-1), undo: undo.slice(0, -1), redo: [...redo, board] });
    case "redoTapped":
      if (redo.length === 0) return state;
      return saving({ ...state, board: redo.at(-1), redo: redo.slice(0, -1), undo: [...undo, board] });
  }
}

const view = ({ board, undo, redo, saving }) => ({ board, canUndo: undo.length > 0, canRedo: redo.length > 0, saving });

async function save({ edits, board }) {
  await writeFile(process.env.KANBAN_FILE ?? "board.json", JSON.stringify(board));
  return { type: "saved", edits };
}

export const kanban = { initial, update, view, schemas, runs: { save } };
serve(kanban, import.meta);

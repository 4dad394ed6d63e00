// SPDX-License-Identifier: Apache-2.0

import assert from "node:assert/strict";
import { test } from "node:test";
import { Refusal, TestStore } from "../../clients/javascript/stores.js";
import { kanban } from "./kanban.js";

const added = (title) => ({ type: "cardAdded", title, column: "todo" });

test("a board is saved one second after the last change", async () => {
  const saved = [];
  const save = ({ board, edits }) => saved.push(board) && { type: "saved", edits };
  const store = new TestStore({ ...kanban, runs: { save } });
  await store.send(added("One"));
  await store.advance(900);
  await store.send(added("Two"));
  assert.equal(store.view.saving, "saving");
  await store.advance(1000);
  await store.receive({ type: "saved", edits: 2 });
  assert.equal(store.view.saving, "saved");
  assert.deepEqual(saved, [{ todo: [{ id: "1", title: "One" }, { id: "2", title: "Two" }], doing: [], done: [] }]);
  await store.finish();
});

test("cards move, and changes are undone", async () => {
  const store = new TestStore({ ...kanban, runs: { save: () => undefined } });
  for (const title of ["One", "Two"]) await store.send(added(title));
  await store.send({ type: "cardMoved", id: "1", column: "doing" });
  await store.send({ type: "cardMoved", id: "2", column: "doing", before: "1" });
  const doing = () => store.view.board.doing.map(({ id }) => id);
  assert.deepEqual(doing(), ["2", "1"]);
  await store.send({ type: "cardRemoved", id: "1" });
  await store.send({ type: "undoTapped" });
  assert.deepEqual(doing(), ["2", "1"]);
  await store.send({ type: "redoTapped" });
  assert.deepEqual(doing(), ["2"]);
  await store.advance(1000);
  await store.finish();
});

test("a failed save is shown, and an empty title is refused", async () => {
  const store = new TestStore(kanban);
  store.inject("save", "fail");
  await store.send(added("One"));
  await store.advance(1000);
  await store.receive({ type: "saveFailed" });
  assert.equal(store.view.saving, "failed");
  await assert.rejects(store.send(added("")), (error) => error instanceof Refusal && error.path[0] === "title");
  await store.finish();
});

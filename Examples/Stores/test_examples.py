# SPDX-License-Identifier: Apache-2.0
"""Tests of the stores in this folder: python3 -m unittest, with clients/python/src in PYTHONPATH."""

import unittest

import kanban
import todo
from statewire.stores import Refusal, TestFailure, TestStore

EMPTY = {"todo": [], "doing": [], "done": []}


class KanbanTests(unittest.TestCase):
    def test_a_board_is_saved_one_second_after_the_last_change(self):
        saved = []
        runs = {"save": lambda work: saved.append(work["board"]) or kanban.Saved(work["edits"])}
        with TestStore(kanban.kanban, runs=runs) as store:
            store.send({"type": "cardAdded", "title": "One", "column": "todo"})
            store.advance(900)
            store.send(kanban.CardAdded("Two", "todo"))
            self.assertEqual(store.view.saving, "saving")
            store.advance(1000)
            store.receive(kanban.Saved(2))
            self.assertEqual(store.view.saving, "saved")
            cards = [{"id": "1", "title": "One"}, {"id": "2", "title": "Two"}]
            self.assertEqual(saved, [{**EMPTY, "todo": cards}])

    def test_cards_move_and_changes_are_undone(self):
        with TestStore(kanban.kanban, runs={"save": lambda work: None}) as store:
            for title in ("One", "Two"):
                store.send(kanban.CardAdded(title, "todo"))
            store.send({"type": "cardMoved", "id": "1", "column": "doing"})
            store.send({"type": "cardMoved", "id": "2", "column": "doing", "before": "1"})
            self.assertEqual([card.id for card in store.state.board.doing], ["2", "1"])
            store.send({"type": "cardMoved", "id": "missing", "column": "doing"})
            store.send({"type": "cardRemoved", "id": "1"})
            self.assertTrue(store.view.canUndo)
            store.send({"type": "undoTapped"})
            self.assertEqual([card.id for card in store.state.board.doing], ["2", "1"])
            store.send({"type": "redoTapped"})
            self.assertEqual([card.id for card in store.state.board.doing], ["2"])
            self.assertFalse(store.view.canRedo)
            store.advance(1000)

    def test_a_failed_save_is_shown_and_invalid_inputs_are_refused(self):
        with TestStore(kanban.kanban) as store:
            store.inject("save", "fail")
            store.send(kanban.CardAdded("One", "todo"))
            store.advance(1000)
            store.receive(kanban.SaveFailed())
            self.assertEqual(store.view.saving, "failed")
            for wrong, path in [
                ({"type": "cardAdded", "title": "", "column": "todo"}, ["title"]),
                ({"type": "cardAdded", "title": "x", "column": "later"}, ["column"]),
                ({"type": "cardAdded", "title": 1, "column": "todo"}, ["title"]),
                ({"type": "saved", "edits": 1}, ["type"]),
            ]:
                with self.assertRaises(Refusal) as refused:
                    store.send(wrong)
                self.assertEqual(refused.exception.path, path)

    def test_save_interrupted_by_a_restart_begins_again(self):
        with TestStore(kanban.kanban, runs={"save": lambda work: kanban.Saved(work["edits"])}) as store:
            store.inject("save", "hang")
            store.send(kanban.CardAdded("One", "todo"))
            store.advance(1000)
            with self.assertRaises(TestFailure):
                store.finish()
            store.restart()
            store.receive(kanban.Saved(1))


class TodoTests(unittest.TestCase):
    def store(self, count=2):
        return TestStore(todo.todo_kind, configuration={"memory": {"count": count}})

    def titles(self, store):
        return [todo["title"] for todo in store.view["todos"]]

    def test_operations(self):
        with self.store() as store:
            self.assertEqual(store.view, {"type": "loading"})
            store.send({"type": "todoAdded", "title": "Early"})
            self.assertEqual(store.view, {"type": "loading"})
            store.send({"type": "stateRequested"})
            self.assertEqual(self.titles(store), ["Todo 1", "Todo 2", "Early"])
            for sent, expected in [
                ({"type": "todoMoved", "id": "3", "before": "1"}, ["Early", "Todo 1", "Todo 2"]),
                ({"type": "todoMoved", "id": "3", "before": "3"}, ["Early", "Todo 1", "Todo 2"]),
                ({"type": "todoMoved", "id": "3", "before": None}, ["Todo 1", "Todo 2", "Early"]),
                ({"type": "todoRemoved", "id": "1"}, ["Todo 2", "Early"]),
                ({"type": "todoRenamed", "id": "2", "title": "Two"}, ["Two", "Early"]),
                ({"type": "todoAdded", "title": "Named", "id": "5"}, ["Two", "Early", "Named"]),
                ({"type": "todoAdded", "title": "Again", "id": "5"}, ["Two", "Early", "Named"]),
                ({"type": "todoAdded", "title": "New", "id": None}, ["Two", "Early", "Named", "New"]),
            ]:
                store.send(sent)
                self.assertEqual(self.titles(store), expected)
            self.assertEqual(store.view["todos"][-1]["id"], "6")
            store.send({"type": "todoCompleted", "id": "2"})
            self.assertTrue(store.view["todos"][0]["completed"])

    def test_faults_show_the_error_and_the_next_load_recovers(self):
        with self.store() as store:
            for name, sent in [
                ("getTodos", {"type": "stateRequested"}),
                ("addTodo", {"type": "todoAdded", "title": "x"}),
                ("moveTodo", {"type": "todoMoved", "id": "1", "before": None}),
            ]:
                store.inject(name, "fail")
                store.send(sent)
                self.assertEqual(store.view["code"], "repository.failed")
                store.send({"type": "stateRequested"})
                self.assertEqual(self.titles(store), ["Todo 1", "Todo 2"])

    def test_refusals(self):
        with self.store() as store:
            for wrong, path in [
                ({"type": "todoAdded", "title": " \n\t\u3000"}, ["title"]),
                ({"type": "todoAdded", "title": "é" * 2049}, ["title"]),
                ({"type": "todoAdded", "title": "x", "id": ""}, ["id"]),
                ({"type": "todoCompleted", "id": 1}, ["id"]),
                ({"type": "todosUpdated", "todos": []}, ["type"]),
            ]:
                with self.assertRaises(Refusal) as refused:
                    store.send(wrong)
                self.assertEqual(refused.exception.path, path)
        for wrong, path in [
            ({"memory": {"count": -1}}, ["memory", "count"]),
            ({"memory": {"count": "many"}}, ["memory", "count"]),
            ({"list": 5}, ["list"]),
        ]:
            with self.assertRaises(Refusal) as refused:
                TestStore(todo.todo_kind, configuration=wrong)
            self.assertEqual(refused.exception.path, path)

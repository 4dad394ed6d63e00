# SPDX-License-Identifier: Apache-2.0
"""Tests of states: patches, the canonical form, and states that belong to one input."""

import unittest

import states
from test_support import Histories


class StatesOfOneInput(Histories):
    """A form, and a value that is loaded: the client writes the messages of the server itself."""

    def begin(self, kind, state):
        self.client = self.story.client("a")
        self.client.begin()
        self.client.call("store/open", {"store": "one", "kind": kind, "config": {}})
        self.client.result({"revision": 0})
        self.client.call("store/subscribe", {"store": "one"})
        self.client.result({"revision": 0, "state": state})

    def send(self, sequence, value, states, revision, settle=False):
        self.client.call("store/send", {"store": "one", "sequence": sequence, "input": value, "settle": settle})
        self.server.sequences["S", "a"] = sequence
        request = self.client.last_id
        for number, state in enumerate(states, revision - len(states)):
            self.client.update("one", {"base": number, "revision": number + 1, "state": state})
        self.client.last_id = request
        self.client.result({"revision": revision, "changed": bool(states)})

    def end(self, revision, state):
        auditor = self.story.client("auditor")
        auditor.frontend = "a"
        auditor.attach()
        auditor.call("store/subscribe", {"store": "one"})
        auditor.result({"revision": revision, "state": state})

    def entries(self, text):
        return {"firstEntry": text, "secondEntry": text}

    def form(self, text):
        return {"type": "entriesChanged", **self.entries(text)}

    def test_form(self):
        self.begin("form", self.entries(""))
        self.send(1, self.form("x"), [self.entries("x")], 1)
        self.end(1, self.entries("x"))
        self.check_kinds()

    def test_form_of_another_input(self):
        self.begin("form", self.entries(""))
        self.send(1, self.form("x"), [self.entries("y")], 1)
        self.end(1, self.entries("y"))
        self.check_kinds("wrong state")

    def test_form_that_begins_again(self):
        self.begin("form", self.entries(""))
        self.send(1, self.form("x"), [self.entries("x")], 1)
        self.end(2, self.entries(""))
        self.check_kinds()

    def test_load(self):
        self.begin("loading", {"type": "idle"})
        self.send(1, {"type": "load"}, [{"type": "loading"}, {"type": "loaded"}], 2, settle=True)
        self.end(2, {"type": "loaded"})
        self.check_kinds()

    def test_load_that_settles_too_early(self):
        self.begin("loading", {"type": "idle"})
        self.send(1, {"type": "load"}, [{"type": "loading"}], 1, settle=True)
        self.end(2, {"type": "loaded"})
        self.check_kinds("wrong state")

    def test_load_that_was_replaced(self):
        self.begin("loading", {"type": "idle"})
        self.send(1, {"type": "load"}, [{"type": "loading"}], 1)
        self.send(2, {"type": "load"}, [], 1)
        self.end(2, {"type": "loaded"})
        self.check_kinds()

    def test_load_that_never_ends(self):
        self.begin("loading", {"type": "idle"})
        self.send(1, {"type": "load"}, [{"type": "loading"}], 1)
        self.end(1, {"type": "loading"})
        self.check_kinds("wrong state")


class Patches(unittest.TestCase):
    def test_operations(self):
        state = {"a": [1, 2, 3], "b/c": {"~": 1}}
        for patch, expected in [
            ([{"op": "add", "path": "/a/0", "value": 0}], {"a": [0, 1, 2, 3], "b/c": {"~": 1}}),
            ([{"op": "remove", "path": "/a/2"}], {"a": [1, 2], "b/c": {"~": 1}}),
            ([{"op": "move", "from": "/a/2", "path": "/a/0"}], {"a": [3, 1, 2], "b/c": {"~": 1}}),
            ([{"op": "replace", "path": "/b~1c/~0", "value": None}], {"a": [1, 2, 3], "b/c": {"~": None}}),
            ([{"op": "replace", "path": "", "value": 7}], 7),
        ]:
            self.assertEqual(states.patched(state, patch), expected)
            self.assertEqual(state, {"a": [1, 2, 3], "b/c": {"~": 1}})

    def test_failures(self):
        for patch in [
            {"op": "add", "path": "/a/4", "value": 0}, {"op": "remove", "path": "/a/3"},
            {"op": "replace", "path": "/x", "value": 0}, {"op": "add", "path": "/a/-", "value": 0},
            {"op": "add", "path": "/a/01", "value": 0}, {"op": "add", "path": "/a/0/b", "value": 0},
            {"op": "copy", "from": "/a", "path": "/b"},
        ]:
            with self.assertRaises(states.PatchError, msg=patch):
                states.patched({"a": [1, 2, 3]}, [patch])

    def test_canonical_form(self):
        self.assertEqual(states.canonical({"b": 1.0, "a": ["é", True]}), '{"a":["é",true],"b":1}')
        self.assertNotEqual(states.compact({"a": 1}), states.compact({"a": True}))
        one, true = ({"todos": [{"id": "1", "completed": value}]} for value in (1, True))
        self.assertNotEqual(states.compact(one), states.compact(true))
        self.assertEqual(states.compact(one), states.compact({"todos": [{"completed": 1.0, "id": "1"}]}))


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: Apache-2.0
"""The vectors of clients/conformance: canonical form, digest, patches."""

import copy
import json
import pathlib
import unittest
from typing import Any

from statewire.canonical import canonical, digest
from statewire.patch import Document, PatchError, apply, same

DATA = pathlib.Path(__file__).parents[2] / "conformance"


def vectors(name: str) -> list[dict[str, Any]]:
    read = json.loads((DATA / name).read_text(encoding="utf-8"))
    assert isinstance(read, list)
    return read


class CanonicalTests(unittest.TestCase):
    def test_form_and_digest(self) -> None:
        for vector in vectors("canonical.json"):
            with self.subTest(vector["text"]):
                value = json.loads(vector["text"])
                self.assertEqual(canonical(value).decode(), vector["canonical"])
                self.assertEqual(digest(value), vector["digest"])

    def test_invalid_json_is_refused(self) -> None:
        for value in (float("nan"), float("inf")):
            with self.assertRaises(ValueError):
                canonical([value])
        with self.assertRaises(TypeError):
            canonical({"a": object()})

    def test_lone_surrogate_becomes_a_replacement_character(self) -> None:
        self.assertEqual(canonical(json.loads('"\\ud800x"')), '"\ufffdx"'.encode())


class PatchTests(unittest.TestCase):
    def test_vectors(self) -> None:
        for vector in vectors("patches.json"):
            with self.subTest(vector.get("comment"), patch=vector["patch"]):
                self.check(vector)

    def check(self, vector: dict[str, Any]) -> None:
        before = copy.deepcopy(vector["doc"])
        document = Document(vector["doc"])
        if "error" in vector:
            with self.assertRaises(PatchError):
                document.apply(vector["patch"])
            self.assertTrue(same(document.value(), before))
        else:
            document.apply(vector["patch"])
            self.assertTrue(same(document.value(), vector["expected"]), document.value())
        self.assertTrue(same(vector["doc"], before), "what was handed out has changed")

    def test_returned_states_do_not_change(self) -> None:
        document = Document({"todos": [{"title": "a"}, {"title": "b"}]})
        states = [document.value()]
        for title in "cde":
            document.apply([{"op": "replace", "path": "/todos/1/title", "value": title}])
            document.apply([{"op": "add", "path": "/todos/0", "value": {"title": title}}])
            document.apply([{"op": "move", "from": "/todos/0", "path": "/todos/1"}])
            document.apply([{"op": "remove", "path": "/todos/1"}])
            states.append(document.value())
        self.assertEqual([state["todos"][1]["title"] for state in states], list("bcde"))
        self.assertIs(states[0]["todos"][0], states[3]["todos"][0], "what is untouched is shared")

    def test_patches_between_reads_copy_once(self) -> None:
        document = Document([[0] * 1000])
        document.apply([{"op": "replace", "path": "/0/1", "value": 1}])
        inner = document._root[0]
        document.apply([{"op": "replace", "path": "/0/2", "value": 2}])
        self.assertIs(document._root[0], inner)
        seen = document.value()
        document.apply([{"op": "replace", "path": "/0/3", "value": 3}])
        self.assertIsNot(document._root[0], inner)
        self.assertEqual(seen[0][:4], [0, 1, 2, 0])

    def test_a_failing_patch_after_others_in_place(self) -> None:
        document = Document({"a": [1]})
        document.apply([{"op": "add", "path": "/a/-", "value": 2}])
        with self.assertRaises(PatchError):
            document.apply([{"op": "add", "path": "/a/-", "value": 3}, {"op": "remove", "path": "/b"}])
        with self.assertRaises(PatchError):
            document.apply([{"op": "move", "from": "/a/0", "path": "/b/c"}])
        self.assertEqual(document.value(), {"a": [1, 2]})

    def test_owned_containers_are_bounded(self) -> None:
        document = Document({})
        for index in range(20_000):
            key = str(index)
            document.apply([{"op": "add", "path": f"/{key}", "value": {"a": 1}}])
            document.apply([{"op": "replace", "path": f"/{key}/a", "value": 2}])
            document.apply([{"op": "remove", "path": f"/{key}"}])
        self.assertLess(len(document._own), 5000)
        self.assertEqual(document.value(), {})

    def test_apply_does_not_change_its_argument(self) -> None:
        value = {"a": 1}
        self.assertEqual(apply([{"op": "add", "path": "/b", "value": 2}], value), {"a": 1, "b": 2})
        self.assertEqual(value, {"a": 1})


if __name__ == "__main__":
    unittest.main()

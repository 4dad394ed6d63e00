# SPDX-License-Identifier: Apache-2.0
"""Differences of states: patches with the right result, as short as the change."""

from __future__ import annotations

import copy
import random
import unittest
from dataclasses import dataclass, replace
from typing import Any

from statewire.patch import apply, same
from statewire.stores.difference import difference


def items(count: int) -> list[Any]:
    return [{"id": str(number), "title": f"Item {number}"} for number in range(count)]


class Differences(unittest.TestCase):
    def test_random_changes_have_the_right_result(self) -> None:
        chance = random.Random(7)

        def value(depth: int = 0) -> Any:
            kind = chance.random()
            if depth > 3 or kind < 0.4:
                return chance.choice([0, 1, True, False, None, "a", "a/b~c", 1.5, [], {}])
            if kind < 0.7:
                return [value(depth + 1) for _ in range(chance.randrange(6))]
            if kind < 0.85:
                return [{"id": str(i), "t": chance.randrange(3)} for i in chance.sample(range(12), 6)]
            keys = [chance.choice(["a", "a/b", "~", "type"]) for _ in range(4)]
            return {key: value(depth + 1) for key in keys}

        def changed(old: Any) -> Any:
            if isinstance(old, list):
                new = old[:]
                for _ in range(chance.randrange(3)):
                    at = chance.randrange(len(new) + 1)
                    if new and chance.random() < 0.6:
                        moved = new.pop(at % len(new))
                        new[at:at] = [moved] if chance.random() < 0.5 else []
                    elif new and chance.random() < 0.5:
                        new[at % len(new)] = changed(new[at % len(new)])
                    else:
                        new.insert(at, value(3))
                return new
            if isinstance(old, dict):
                kept = {key: part for key, part in old.items() if chance.random() < 0.9}
                return {key: changed(part) if chance.random() < 0.5 else part for key, part in kept.items()}
            return value(3)

        for _ in range(5000):
            old = value()
            new = changed(old) if chance.random() < 0.7 else value()
            new = copy.deepcopy(new) if chance.random() < 0.2 else new
            patch = difference(old, new)
            self.assertTrue(same(apply(copy.deepcopy(patch), copy.deepcopy(old)), new), (old, new, patch))
            self.assertEqual(difference(old, copy.deepcopy(old)), [])

    def test_one_change_of_a_long_list_is_one_operation(self) -> None:
        old = items(1000)
        new = {"id": "new"}
        for name, changed, operation in [
            ("insertion", [*old[:500], new, *old[500:]], {"op": "add", "path": "/500", "value": new}),
            ("removal", [*old[:500], *old[501:]], {"op": "remove", "path": "/500"}),
            ("move down", [*old[1:], old[0]], {"op": "move", "from": "/0", "path": "/999"}),
            ("move up", [old[-1], *old[:-1]], {"op": "move", "from": "/999", "path": "/0"}),
            ("change", [*old[:9], {**old[9], "title": "x"}, *old[10:]],
             {"op": "replace", "path": "/9/title", "value": "x"}),
        ]:  # fmt: skip
            with self.subTest(name):
                self.assertEqual(difference(old, changed), [operation])
                self.assertEqual(difference(copy.deepcopy(old), changed), [operation])

    def test_an_element_without_an_id_that_has_changed_is_changed_in_place(self) -> None:
        old = [{"name": name, "votes": 0} for name in "abc"]
        self.assertEqual(
            difference(old, [old[0], {**old[1], "votes": 1}, old[2]]),
            [{"op": "replace", "path": "/1/votes", "value": 1}])

    def test_a_part_that_is_the_same_object_is_not_compared(self) -> None:
        class Part(dict[str, Any]):
            def __eq__(self, other: object) -> bool:
                raise AssertionError("compared")

            def get(self, *_: Any) -> Any:
                raise AssertionError("read")

            __hash__ = None

        part, parts = Part(), [Part() for _ in range(5)]
        self.assertEqual(
            difference({"a": part, "b": 1, "c": parts}, {"a": part, "b": 2, "c": parts}),
            [{"op": "replace", "path": "/b", "value": 2}])

    def test_members_of_data_classes_are_compared(self) -> None:
        @dataclass(frozen=True)
        class State:
            count: int
            parts: list[Any]

        state = State(1, items(3))
        self.assertEqual(
            difference(state, replace(state, count=2)), [{"op": "replace", "path": "/count", "value": 2}])

    def test_another_case_of_a_union_replaces_it(self) -> None:
        new = {"type": "content", "todos": []}
        self.assertEqual(difference({"type": "loading"}, new), [{"op": "replace", "path": "", "value": new}])

# SPDX-License-Identifier: Apache-2.0
"""Schemas of types, and values of these types."""

from __future__ import annotations

import enum
import unittest
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, TypedDict

from statewire.stores import Refusal, StoreKind
from statewire.stores.types import Form


class Color(enum.Enum):
    RED = "red"


@dataclass(frozen=True)
class Renamed:
    id: str
    title: Annotated[str, {"minLength": 1}]


@dataclass(frozen=True)
class Moved:
    id: str
    before: str | None = None
    color: Color = Color.RED


class _Node(TypedDict):
    name: str


class Node(_Node, total=False):
    children: list[Node]


@dataclass
class State:
    nodes: dict[str, Node] = field(default_factory=dict)
    pair: tuple[int, ...] = ()
    mode: Literal["a", "b"] = "a"


@dataclass(frozen=True)
class Tags:
    names: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Settings:
    tags: Tags = Tags()


class AddedEvent(TypedDict):
    type: Literal["added"]
    color: Literal[Color.RED]


Input = Renamed | Moved


class Types(unittest.TestCase):
    def test_data_classes_of_inputs_have_their_names_as_type(self) -> None:
        self.assertEqual(Form(Input, tagged=True).schema, {
            "anyOf": [{"$ref": "#/$defs/renamed"}, {"$ref": "#/$defs/moved"}],
            "$defs": {
                "renamed": {
                    "type": "object",
                    "properties": {
                        "type": {"const": "renamed"}, "id": {"type": "string"},
                        "title": {"type": "string", "minLength": 1}},
                    "required": ["type", "id", "title"]},
                "moved": {
                    "type": "object",
                    "properties": {
                        "type": {"const": "moved"}, "id": {"type": "string"},
                        "before": {"anyOf": [{"type": "string"}, {"type": "null"}]},
                        "color": {"enum": ["red"]}},
                    "required": ["type", "id"]}}})  # fmt: skip

    def test_types_that_contain_themselves_have_definitions(self) -> None:
        self.assertEqual(Form(State).schema["$defs"]["Node"], {
            "type": "object", "required": ["name"],
            "properties": {
                "name": {"type": "string"},
                "children": {"type": "array", "items": {"$ref": "#/$defs/Node"}}}})  # fmt: skip
        self.assertEqual(Form(State).schema["$defs"]["State"]["properties"]["mode"], {"enum": ["a", "b"]})

    def test_values_are_decoded(self) -> None:
        self.assertEqual(Form(Input, tagged=True).decode({"type": "moved", "id": "1"}), Moved("1"))
        value = {"nodes": {"x": {"name": "x", "children": [{"name": "y"}]}}, "pair": [1, 2.0], "mode": "b"}
        self.assertEqual(Form(State).decode(value), State(value["nodes"], (1, 2), "b"))  # type: ignore[arg-type]

    def test_a_typed_dict_of_inputs_has_a_type_of_its_own(self) -> None:
        form = Form(AddedEvent | Moved, tagged=True)
        self.assertEqual(form.schema["$defs"]["AddedEvent"], {
            "type": "object", "required": ["type", "color"],
            "properties": {"type": {"enum": ["added"]}, "color": {"enum": ["red"]}}})  # fmt: skip
        received = {"type": "added", "color": "red"}
        self.assertEqual(form.decode(received), {"type": "added", "color": Color.RED})

    def test_wrong_values_are_refused_with_their_path(self) -> None:
        cases: list[tuple[Any, Any, list[str | int]]] = [
            (Input, {"type": "flew"}, ["type"]),
            (Input, {"type": "renamed", "id": "1"}, ["title"]),
            (Input, {"type": "moved", "id": 1}, ["id"]),
            (Input, {"type": "moved", "id": "1", "before": 1}, ["before"]),
            (Input, {"type": "moved", "id": "1", "color": "blue"}, ["color"]),
            (Input, [], []),
            (State, {"pair": [1, True]}, ["pair", 1]),
            (State, {"pair": [1.5]}, ["pair", 0]),
            (State, {"mode": "c"}, ["mode"]),
            (State, [], []),
            (State, {"nodes": {"x": {"name": "x", "children": [{"name": None}]}}},
             ["nodes", "x", "children", 0, "name"]),
        ]  # fmt: skip
        for of, value, path in cases:
            with self.subTest(value=value), self.assertRaises(Refusal) as refused:
                Form(of, tagged=of is Input).decode(value)
            self.assertEqual(refused.exception.path, path)

    def test_values_that_the_program_sends_have_all_members(self) -> None:
        """Members with a default were optional in generated view states, although they are always sent."""

        def update(state: State, event: Moved) -> State:
            return state

        kind = StoreKind(initial=State(), update=update, configuration=State, events=Moved)
        schemas = {name: schema["$defs"] for name, schema in kind.description()["schemas"].items()}
        self.assertEqual(schemas["viewState"]["State"]["required"], ["nodes", "pair", "mode"])
        self.assertEqual(schemas["viewState"]["Node"]["required"], ["name"])
        self.assertEqual(schemas["event"]["moved"]["required"], ["type", "id", "before", "color"])
        self.assertEqual(schemas["input"]["moved"]["required"], ["type", "id"])
        self.assertEqual(schemas["configuration"]["State"]["required"], [])
        self.assertEqual(kind.forms["state"].decode({}), State())

    def test_values_do_not_share_a_default(self) -> None:
        """A value that was changed in place changed those of other sessions."""
        first, second = (Form(Settings).decode({}) for _ in range(2))
        first.tags.names.append("secret")
        for settings in (second, Form(Settings).decode({})):
            self.assertEqual(settings.tags.names, [])

    def test_the_types_of_update_are_those_of_the_kind(self) -> None:
        def update(state: State, event: Renamed | Moved) -> State:
            return state

        kind = StoreKind(initial=State(), update=update)
        for name, of in {"state": State, "input": Input, "action": Input}.items():
            self.assertEqual(kind.forms[name].schema, Form(of, tagged=of is Input).schema)
        self.assertEqual(kind.description()["schemas"]["viewState"]["$ref"], "#/$defs/State")

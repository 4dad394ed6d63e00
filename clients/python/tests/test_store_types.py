# SPDX-License-Identifier: Apache-2.0
"""Schemas of types, and values of these types."""

from __future__ import annotations

import dataclasses
import enum
import typing
import unittest
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, ForwardRef, Generic, Literal, NewType, TypedDict, TypeVar, cast

from statewire.stores import Refusal, StoreKind, TestStore
from statewire.stores.effects import plain
from statewire.stores.types import Form

T = TypeVar("T")
ItemID = NewType("ItemID", str)
PartID = NewType("PartID", ItemID)


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


@dataclass(frozen=True)
class Loading: ...


@dataclass(frozen=True)
class Content:
    todos: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Circle:
    size: int


@dataclass(frozen=True)
class Square:
    size: int


@dataclass(frozen=True)
class Line:
    type: Literal["line"] = "line"
    size: int = 0


@dataclass(frozen=True)
class Dot:
    type: Literal["dot"] = "dot"
    size: int = 0


@dataclass(frozen=True)
class Drawn:
    shape: Line | Dot | Circle


@dataclass(frozen=True)
class Page(Generic[T]):
    items: list[T]


class Other:
    @dataclass(frozen=True)
    class Circle:
        name: str


@dataclass(frozen=True)
class Circles:
    first: Circle
    second: Other.Circle


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

    def test_a_union_chooses_the_case_with_the_members_of_the_value(self) -> None:
        """A case without members accepted each object: a state was empty after a restart."""
        states: list[Loading | Content] = [Loading(), Content(), Content(["milk"])]
        for of in (Loading | Content, Content | Loading):
            def update(state: of, event: Any) -> of:  # type: ignore[valid-type]
                return state

            for state in states:
                store = TestStore(initial=state, update=update, state=of)
                store.restart()
                self.assertEqual(store.state, state)
        decode = Form(Drawn).decode
        for shape in (Line(size=1), Dot(size=2), Circle(3)):
            self.assertEqual(decode(plain(Drawn(shape))), Drawn(shape))
        # A client can send more members.
        self.assertEqual(decode({"shape": {"type": "dot", "size": 1, "color": "red"}}), Drawn(Dot(size=1)))
        cases: list[tuple[dict[str, Any], list[str]]] = [
            ({"size": 1, "color": "red"}, ["shape", "color"]),
            ({"size": "1"}, ["shape", "size"]),
        ]
        for value, path in cases:
            with self.subTest(value), self.assertRaises(Refusal) as refused:
                decode({"shape": value})
            self.assertEqual(refused.exception.path, path)
        with self.assertRaises(Refusal):
            Form(Loading | Content).decode({"todos": [1]})

    def test_cases_with_the_same_members_are_refused(self) -> None:
        for of in (Circle | Square, list[Circle | Square]):
            with self.subTest(of), self.assertRaisesRegex(TypeError, "have the same members"):
                StoreKind(0, lambda state, event: state, state=of).description()
        # Inputs have their names as `type`.
        form = Form(Circle | Square, tagged=True)
        self.assertEqual(form.decode({"type": "square", "size": 1}), Square(1))
        with self.assertRaisesRegex(TypeError, "have the same members"):
            Form(Circle | dataclasses.make_dataclass("Circle", [("size", int)]), tagged=True)

    def test_classes_with_the_same_name_have_schemas_of_their_own(self) -> None:
        form = Form(Circles)
        value = Circles(Circle(1), Other.Circle("x"))
        self.assertEqual(form.decode(plain(value)), value)
        self.assertEqual(len(form.schema["$defs"]), 3)
        first, second = form.schema["$defs"]["Circles"]["properties"].values()
        self.assertNotEqual(first, second)

    def test_a_dictionary_of_values_is_a_type(self) -> None:
        """Its values were dictionaries after a restart."""

        def update(state: dict[str, Circle], event: dict[str, int]) -> dict[str, Circle]:
            return {key: Circle(size) for key, size in event.items()}

        store = TestStore(initial={}, update=update)
        store.send({"a": 1})
        store.restart()
        self.assertEqual(store.state, {"a": Circle(1)})
        with self.assertRaises(Refusal):
            store.send({"a": "1"})

    def test_types_without_a_form_are_refused(self) -> None:
        """They were published as any value, and decoded as what JSON has."""
        types: list[Any] = [
            tuple[str, int], list[tuple[int, str]], Page[str], Page, set[int], bytes, dict[int, str],
            dict[Circle, str], dict[Color, str], dict[Literal[1, 2], str], dict[Literal["a", 1], str], 5]
        for of in types:
            with self.subTest(of), self.assertRaisesRegex(TypeError, "has no JSON form"):
                StoreKind(0, lambda state, event: state, state=of).description()
        for of in (Any, object, None):
            self.assertEqual(Form(of).schema, {})
        self.assertEqual(Form(ItemID).schema, {"type": "string"})
        # The program did not start.
        self.assertEqual(Form(PartID).schema, {"type": "string"})
        for mark in ("Required", "NotRequired", "Final", "ReadOnly"):
            if hasattr(typing, mark):
                self.assertEqual(Form(getattr(typing, mark)[ItemID]).schema, {"type": "string"})
        for key in (ItemID, PartID, Annotated[str, {"maxLength": 9}], Literal["a", "b"]):
            for of in (dict, Mapping):
                form = Form(cast(Any, of)[key, Circle])
                self.assertEqual(form.decode({"a": {"size": 1}}), {"a": Circle(1)})
        # Other keys were taken, and the schema permitted them.
        columns = Form(dict[Literal["to do", "done"], int])
        self.assertEqual(columns.schema["propertyNames"], {"enum": ["to do", "done"]})
        with self.assertRaisesRegex(Refusal, "doing must be one of") as refused:
            columns.decode({"to do": 1, "doing": 2})
        self.assertEqual(refused.exception.path, ["doing"])
        # It is a part of an alias that contains itself.
        self.assertEqual(Form(ForwardRef("JSON")).schema, {})

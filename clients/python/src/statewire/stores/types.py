# SPDX-License-Identifier: Apache-2.0
"""JSON Schemas of Python types, and values of these types from JSON."""

from __future__ import annotations

import dataclasses
import enum
import types
import typing
from collections.abc import Callable, Sequence
from typing import Annotated, Any, Literal, Union, get_args, get_origin, is_typeddict

from .effects import Refusal, tag

_SIMPLE = {str: "string", int: "integer", float: "number", bool: "boolean", type(None): "null"}
_NAMES: dict[Any, str] = {**_SIMPLE, list: "array", dict: "object"}
_Path = Sequence[str | int]
# The schema of a type, and a function that returns a value of it from JSON.
_Part = tuple[dict[str, Any], Callable[[Any, _Path], Any]]


class Form:
    """The JSON form of a type. If `tagged`, data classes have their names as `type`."""

    def __init__(self, of: Any, tagged: bool = False) -> None:
        self._definitions: dict[str, Any] = {}
        self._records: dict[str, Callable[[Any, _Path], Any]] = {}
        schema, self._decode = self._part(of, tagged)
        self.schema = {**schema, "$defs": self._definitions} if self._definitions else schema

    def decode(self, value: Any) -> Any:
        """Returns a value of the type from JSON.

        - Raises: `Refusal` with the path of the fault.
        """
        return self._decode(value, ())

    def _part(self, of: Any, tagged: bool = False) -> _Part:
        origin, arguments = get_origin(of), get_args(of)
        if origin is Annotated:
            schema, decode = self._part(arguments[0], tagged)
            for extra in of.__metadata__:
                schema = schema | extra if isinstance(extra, dict) else schema
            return schema, decode
        if origin in (Union, types.UnionType):
            return self._union([self._part(case, tagged) for case in arguments])
        if origin is Literal:
            return _one_of({case: case for case in arguments})
        if isinstance(of, type) and issubclass(of, enum.Enum):
            return _one_of({case.value: case for case in of})
        if dataclasses.is_dataclass(of) or is_typeddict(of):
            return self._record(of, tagged)
        if origin in (list, tuple, Sequence) or of in (list, tuple):
            schema, decode = self._part(arguments[0] if arguments else Any)
            make = tuple if tuple in (origin, of) else list
            return {"type": "array", "items": schema}, lambda value, path: make(
                decode(item, [*path, index]) for index, item in enumerate(_expected(list, value, path))
            )
        if origin is dict or of is dict:
            schema, decode = self._part(arguments[1] if arguments else Any)
            return {"type": "object", "additionalProperties": schema}, lambda value, path: {
                key: decode(item, [*path, key]) for key, item in _expected(dict, value, path).items()
            }
        if of in _SIMPLE:
            return {"type": _SIMPLE[of]}, lambda value, path: _expected(of, value, path)
        return {}, lambda value, path: value

    def _union(self, parts: list[_Part]) -> _Part:
        def decode(value: Any, path: _Path) -> Any:
            kinds = [(kind, decode) for schema, decode in parts if (kind := self._kind(schema)) is not None]
            if isinstance(value, dict) and kinds:
                chosen = [decode for kind, decode in kinds if kind == value.get("type")]
                return chosen[0](value, path) if chosen else _wrong("is unknown", [*path, "type"])
            refusals = []
            for _, decode in parts:
                try:
                    return decode(value, path)
                except Refusal as refusal:
                    refusals.append(refusal)
            raise max(refusals, key=lambda refusal: len(refusal.path))

        return {"anyOf": [schema for schema, _ in parts]}, decode

    def _kind(self, schema: dict[str, Any]) -> Any:
        """Returns the only `type` of a record; None for none."""
        record = self._definitions.get(schema.get("$ref", "").removeprefix("#/$defs/"), {})
        kind = record.get("properties", {}).get("type", {})
        values = [kind["const"]] if "const" in kind else kind.get("enum", [])
        return values[0] if len(values) == 1 else None

    def _record(self, of: Any, tagged: bool) -> _Part:
        hints = typing.get_type_hints(of, include_extras=True)
        if is_typeddict(of):
            optional = [key for key in hints if getattr(get_origin(hints[key]), "_name", "") == "NotRequired"]
            required = [key for key in hints if key in of.__required_keys__ and key not in optional]
            hints |= {key: get_args(hints[key])[0] for key in optional}
        else:
            empty, fields = dataclasses.MISSING, dataclasses.fields(of)
            required = [x.name for x in fields if x.default is empty and x.default_factory is empty]
            hints = {field.name: hints[field.name] for field in fields}
        kind = tag(of) if tagged and not is_typeddict(of) and "type" not in hints else None
        name = kind or of.__name__
        if name not in self._definitions:
            self._definitions[name] = {}  # For types that contain themselves.
            parts = {key: self._part(hint) for key, hint in hints.items()}
            properties = {"type": {"const": kind}} if kind else {}
            self._definitions[name] = {
                "type": "object",
                "properties": properties | {key: schema for key, (schema, _) in parts.items()},
                "required": [*properties, *required],
            }

            def decode(value: Any, path: _Path) -> Any:
                value = _expected(dict, value, path)
                if kind and value.get("type") != kind:
                    return _wrong(f"must be {kind!r}", [*path, "type"])
                if missing := [key for key in required if key not in value]:
                    return _wrong("is missing", [*path, missing[0]])
                read = {key: part[1](value[key], [*path, key]) for key, part in parts.items() if key in value}
                return {**value, **read} if is_typeddict(of) else of(**read)

            self._records[name] = decode
        return {"$ref": f"#/$defs/{name}"}, lambda value, path: self._records[name](value, path)


def _one_of(cases: dict[Any, Any]) -> _Part:
    def decode(value: Any, path: _Path) -> Any:
        fits = [cases[case] for case in cases if case == value and type(case) is type(value)]
        return fits[0] if fits else _wrong(f"must be one of {[*cases]}", path)

    return {"enum": [*cases]}, decode


def _expected(of: Any, value: Any, path: _Path) -> Any:
    if of is int and type(value) is float and value.is_integer():
        return int(value)
    fits = type(value) is of or (of is float and type(value) is int)
    return value if fits else _wrong(f"must be a JSON {_NAMES[of]}", path)


def _wrong(fault: str, path: _Path) -> Any:
    raise Refusal(f"{path[-1] if path else 'the value'} {fault}", path=path)

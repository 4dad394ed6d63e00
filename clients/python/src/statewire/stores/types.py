# SPDX-License-Identifier: Apache-2.0
"""JSON Schemas of Python types, and values of these types from JSON."""

from __future__ import annotations

import dataclasses
import enum
import types
import typing
from collections.abc import Sequence
from typing import Annotated, Any, Literal, Union, get_args, get_origin, is_typeddict

from .effects import Refusal, tag

_SIMPLE: dict[Any, str] = {
    str: "string",
    int: "integer",
    float: "number",
    bool: "boolean",
    type(None): "null",
}


def schema(of: Any, tagged: bool = False) -> dict[str, Any]:
    """Returns the JSON Schema of a type. If `tagged`, data classes have their names as `type`."""
    definitions: dict[str, Any] = {}
    result = _schema(of, definitions, tagged)
    return {**result, "$defs": definitions} if definitions else result


def _schema(of: Any, definitions: dict[str, Any], tagged: bool = False) -> dict[str, Any]:
    origin, arguments = get_origin(of), get_args(of)
    if origin is Annotated:
        extra = [more for more in of.__metadata__ if isinstance(more, dict)]
        return _schema(arguments[0], definitions, tagged) | {key: more[key] for more in extra for key in more}
    if of in _SIMPLE:
        return {"type": _SIMPLE[of]}
    if origin in (Union, types.UnionType):
        return {"anyOf": [_schema(argument, definitions, tagged) for argument in arguments]}
    if origin is Literal:
        return {"enum": list(arguments)}
    if isinstance(of, type) and issubclass(of, enum.Enum):
        return {"enum": [case.value for case in of]}
    if _is_record(of):
        name = tag(of) if _needs_tag(of, tagged) else of.__name__
        if name not in definitions:
            definitions[name] = {}
            members, required = _members(of)
            properties = {key: _schema(value, definitions) for key, value in members.items()}
            if _needs_tag(of, tagged):
                properties, required = {"type": {"const": tag(of)}, **properties}, ["type", *required]
            definitions[name] = {"type": "object", "properties": properties, "required": required}
        return {"$ref": f"#/$defs/{name}"}
    if origin in (list, tuple, Sequence) or of in (list, tuple):
        return {"type": "array", **({"items": _schema(arguments[0], definitions)} if arguments else {})}
    if origin is dict or of is dict:
        return {"type": "object"} | (
            {"additionalProperties": _schema(arguments[1], definitions)} if arguments else {}
        )
    return {}


def decode(of: Any, value: Any, tagged: bool = False, path: Sequence[str | int] = ()) -> Any:
    """Returns a value of a type from JSON.

    - Raises: `Refusal` with the path of the fault.
    """
    origin, arguments = get_origin(of), get_args(of)
    if origin is Annotated:
        return decode(arguments[0], value, tagged, path)
    if origin in (Union, types.UnionType):
        return _union(arguments, value, tagged, path)
    if origin is Literal:
        fits = any(value == case and type(value) is type(case) for case in arguments)
        return value if fits else _wrong(f"must be one of {list(arguments)}", path)
    if isinstance(of, type) and issubclass(of, enum.Enum):
        fits = value in [case.value for case in of]
        return of(value) if fits else _wrong(f"must be one of {[case.value for case in of]}", path)
    if _is_record(of):
        return _record(of, value, tagged, path)
    if origin in (list, tuple, Sequence) or of in (list, tuple):
        if not isinstance(value, list):
            return _wrong("must be an array", path)
        items = (
            [decode(arguments[0], item, False, [*path, i]) for i, item in enumerate(value)]
            if arguments
            else value
        )
        return tuple(items) if tuple in (origin, of) else items
    if origin is dict or of is dict:
        if not isinstance(value, dict):
            return _wrong("must be an object", path)
        return (
            {k: decode(arguments[1], v, False, [*path, k]) for k, v in value.items()} if arguments else value
        )
    if of is float and isinstance(value, int) and not isinstance(value, bool):
        return value
    if of is int and isinstance(value, float) and value.is_integer():
        return int(value)
    return value if of not in _SIMPLE or type(value) is of else _wrong(f"must be a JSON {_SIMPLE[of]}", path)


def _union(cases: Sequence[Any], value: Any, tagged: bool, path: Sequence[str | int]) -> Any:
    records = {name: case for case in cases if _is_record(case) and (name := _tag(case, tagged)) is not None}
    if isinstance(value, dict) and records:
        name = value.get("type")
        return (
            decode(records[name], value, tagged, path)
            if name in records
            else _wrong("is unknown", [*path, "type"])
        )
    refusals: list[Refusal] = []
    for case in cases:
        try:
            return decode(case, value, tagged, path)
        except Refusal as refusal:
            refusals.append(refusal)
    raise max(refusals, key=lambda refusal: len(refusal.path))


def _record(of: Any, value: Any, tagged: bool, path: Sequence[str | int]) -> Any:
    if not isinstance(value, dict):
        return _wrong("must be an object", path)
    if _needs_tag(of, tagged) and value.get("type") != tag(of):
        return _wrong(f"must be {tag(of)!r}", [*path, "type"])
    members, required = _members(of)
    if missing := next((name for name in required if name not in value), None):
        return _wrong("is missing", [*path, missing])
    decoded = {key: decode(members[key], value[key], False, [*path, key]) for key in members if key in value}
    return {**value, **decoded} if is_typeddict(of) else of(**decoded)


def _wrong(fault: str, path: Sequence[str | int]) -> Any:
    raise Refusal(f"{path[-1] if path else 'the value'} {fault}", path=path)


def _members(of: Any) -> tuple[dict[str, Any], list[str]]:
    """Returns the types of the members of a class, and the members without a default."""
    hints = typing.get_type_hints(of, include_extras=True)
    if not is_typeddict(of):
        empty = dataclasses.MISSING
        fields = dataclasses.fields(of)
        needed = [field.name for field in fields if field.default is empty and field.default_factory is empty]
        return {field.name: hints[field.name] for field in fields}, needed
    optional = [key for key, hint in hints.items() if getattr(get_origin(hint), "_name", "") == "NotRequired"]
    members = {key: get_args(hint)[0] if key in optional else hint for key, hint in hints.items()}
    return members, [key for key in members if key in of.__required_keys__ and key not in optional]


def _is_record(of: Any) -> bool:
    return isinstance(of, type) and (dataclasses.is_dataclass(of) or is_typeddict(of))


def _needs_tag(of: Any, tagged: bool) -> bool:
    return tagged and not is_typeddict(of) and "type" not in _members(of)[0]


def _tag(of: Any, tagged: bool) -> Any:
    if _needs_tag(of, tagged):
        return tag(of)
    arguments = get_args(_members(of)[0].get("type"))
    return arguments[0] if len(arguments) == 1 else None

# SPDX-License-Identifier: Apache-2.0
"""JSON Schemas of Python types, and values of these types from JSON."""

import copy
import dataclasses
import enum
import inspect
import types
from collections.abc import Callable, Sequence
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints, is_typeddict

from .effects import Refusal, tag

_NAMES: dict[Any, str] = {str: "string", int: "integer", float: "number", bool: "boolean", list: "array",
                          dict: "object", type(None): "null"}  # fmt: skip
_Path = Sequence[str | int]
# The schema of a type, and a function that returns a value of it from JSON, which is at a path.
_Part = tuple[dict[str, Any], Callable[[Any, _Path], Any]]


class Form:
    """The JSON form of a type. If `tagged`, data classes have their names as `type`.

    A member with a default is optional, but not in values that are `sent`: the program sends all members.
    """

    def __init__(self, of: Any, tagged: bool = False, sent: bool = False) -> None:
        self._records, self._sent = dict[str, _Part](), sent
        schema, part = self._part(of, tagged)
        # Returns a value of the type from JSON, or raises a `Refusal` with the path of the fault.
        self.decode: Callable[[Any], Any] = lambda value: part(value, ())
        records = {name: record for name, (record, _) in self._records.items()}
        self.schema = {**schema, "$defs": records} if records else schema

    def _part(self, of: Any, tagged: bool = False) -> _Part:
        origin, arguments = get_origin(of) or of, get_args(of)
        if origin is Annotated or _is_optional(of):
            schema, decode = self._part(arguments[0], tagged)
            extras = [extra for extra in arguments[1:] if isinstance(extra, dict)]
            return {key: part for each in [schema, *extras] for key, part in each.items()}, decode
        if origin in (Union, types.UnionType):
            return _union([self._part(case, tagged) for case in arguments])
        if origin is Literal or isinstance(of, enum.EnumMeta):
            return _one_of({getattr(case, "value", case): case for case in arguments or of})
        if dataclasses.is_dataclass(of) or is_typeddict(of):
            return self._record(of, tagged)
        if origin in (list, tuple, Sequence):
            item, decode = self._part(arguments[0] if arguments else Any)
            return {"type": "array", "items": item}, lambda value, path: (tuple if origin is tuple else list)(
                decode(each, [*path, i]) for i, each in enumerate(_expected(list, value, path)))  # fmt: skip
        if origin is dict:
            schema, decode = self._part(arguments[1] if arguments else Any)
            return {"type": "object", "additionalProperties": schema}, lambda value, path: {
                k: decode(item, [*path, k]) for k, item in _expected(dict, value, path).items()}  # fmt: skip
        if of in _NAMES:
            return {"type": _NAMES[of]}, lambda value, path: _expected(of, value, path)
        return {}, lambda value, path: value

    def _record(self, of: Any, tagged: bool) -> _Part:
        hints = get_type_hints(of, include_extras=True)
        if is_typeddict(of):
            required = [key for key in hints if key in of.__required_keys__ and not _is_optional(hints[key])]
        else:
            parameters = inspect.signature(of).parameters
            required = [name for name, p in parameters.items() if self._sent or p.default is p.empty]
            hints = {name: hints[name] for name in parameters}
        name = tag(of) if (tagged := tagged and "type" not in hints) else of.__name__

        def decode(value: Any, path: _Path) -> Any:
            value = _expected(dict, value, path)
            if tagged and value.get("type") != name:
                return _wrong(f"must be {name!r}", [*path, "type"])
            if missing := [key for key in required if key not in value]:
                return _wrong("is missing", [*path, missing[0]])
            read = {key: part[1](value[key], [*path, key]) for key, part in parts.items() if key in value}
            made = {**value, **read} if is_typeddict(of) else of(**read)
            # A default can be one object, which all values of the type would share.
            return made if len(read) == len(parts) else copy.deepcopy(made)

        if name not in self._records:
            kind = {"type": {"const": name}} if tagged else {}
            schema: dict[str, Any] = {"type": "object", "required": [*kind, *required]}
            self._records[name] = schema, decode  # For types that contain themselves.
            parts = {key: self._part(hint) for key, hint in hints.items()}
            schema["properties"] = kind | {key: part for key, (part, _) in parts.items()}
        return {"$ref": f"#/$defs/{name}"}, self._records[name][1]


def _union(parts: list[_Part]) -> _Part:
    def decode(value: Any, path: _Path) -> Any:
        refusals = []
        for _, part in parts:
            try:
                return part(value, path)
            except Refusal as refusal:
                refusals.append(refusal)
        # A case that has another `type` does not name the fault.
        raise max(refusals, key=lambda refusal: (refusal.path != [*path, "type"], len(refusal.path)))

    return {"anyOf": [schema for schema, _ in parts]}, decode


def _one_of(cases: dict[Any, Any]) -> _Part:
    def decode(value: Any, path: _Path) -> Any:
        fits = [cases[case] for case in cases if case == value and type(case) is type(value)]
        return fits[0] if fits else _wrong(f"must be one of {[*cases]}", path)

    return {"enum": [*cases]}, decode


def _is_optional(of: Any) -> bool:
    return getattr(get_origin(of), "_name", None) == "NotRequired"


def _expected(of: Any, value: Any, path: _Path) -> Any:
    number = int(value) if of is int and type(value) is float and value.is_integer() else value
    fits = type(number) is of or (of is float and type(number) is int)
    return number if fits else _wrong(f"must be a JSON {_NAMES[of]}", path)


def _wrong(fault: str, path: _Path) -> Any:
    raise Refusal(f"{path[-1] if path else 'the value'} {fault}", path=path)

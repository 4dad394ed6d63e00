# SPDX-License-Identifier: Apache-2.0
"""JSON Schemas of Python types, and values of these types from JSON."""

import copy
import dataclasses
import enum
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints, is_typeddict

from .effects import Refusal, tag

_NAMES: dict[Any, str] = {str: "string", int: "integer", float: "number", bool: "boolean", list: "array",
                          dict: "object", type(None): "null"}  # fmt: skip
# The names of what a type can be marked with.
_MARKS = ("Annotated", "NotRequired", "Required", "ReadOnly", "Final")
_Path = Sequence[str | int]
# The schema of a type, a function that returns a value of it from JSON, which is at a path, and the schemas
# of the members, if it is a data class or a TypedDict.
_Part = tuple[dict[str, Any], Callable[[Any, _Path], Any], dict[str, Any] | None]


class Form:
    """The JSON form of a type. If `tagged`, data classes have their names as `type`.

    A member with a default is optional, but not in values that are `sent`: the program sends all members.
    Raises `TypeError` for a type without a form.
    """

    def __init__(self, of: Any, tagged: bool = False, sent: bool = False) -> None:
        self._schemas, self._records, self._sent = dict[str, dict[str, Any]](), dict[Any, _Part](), sent
        schema, part, _ = self._part(of, tagged)
        # Returns a value of the type from JSON, or raises a `Refusal` with the path of the fault.
        self.decode: Callable[[Any], Any] = lambda value: part(value, ())
        self.schema = {**schema, "$defs": self._schemas} if self._schemas else schema

    def _part(self, of: Any, tagged: bool = False) -> _Part:
        origin, arguments = get_origin(of) or of, get_args(of)
        # That of a NewType, or the one that is marked.
        if inner := getattr(of, "__supertype__", arguments[0] if _mark(of) in _MARKS else None):
            part = self._part(inner, tagged)
            return part[0] | dict(x for a in arguments if isinstance(a, dict) for x in a.items()), *part[1:]
        if origin is Union or isinstance(of, type(int | str)):
            parts = [self._part(case, tagged) for case in arguments]
            shapes = [({*members}, members.get("type")) for _, _, members in parts if members is not None]
            if any(shape in shapes[:index] for index, shape in enumerate(shapes)):
                raise TypeError(f"two cases of {of} have the same members; give each a type: Literal[…]")
            return {"anyOf": [part[0] for part in parts]}, lambda value, path: _case(parts, value, path), None
        if origin is Literal or isinstance(of, enum.EnumMeta):
            cases = {getattr(case, "value", case): case for case in arguments or of}
            return {"enum": [*cases]}, lambda value, path: _one_of(cases, value, path), None
        if dataclasses.is_dataclass(of) or is_typeddict(of):
            return self._record(of, tagged)
        if origin in (list, Sequence) or (origin is tuple and len({*arguments} - {...}) < 2):
            item, decode, _ = self._part(arguments[0] if arguments else Any)
            return {"type": "array", "items": item}, lambda value, path: (tuple if origin is tuple else list)(
                decode(v, [*path, i]) for i, v in enumerate(_expected(list, value, path))), None  # fmt: skip
        if origin in (dict, Mapping):
            (names, key, _), (item, decode, _) = (self._part(x) for x in arguments or (str, Any))
            # The keys are texts, also in the program: not numbers or enum members.
            if names.get("type") == "string" or {type(key(x, ())) for x in names.get("enum", ())} == {str}:
                keys = {} if names == {"type": "string"} else {"propertyNames": names}
                return {"type": "object", "additionalProperties": item, **keys}, lambda value, path: {
                    key(k, [*path, k]): decode(v, [*path, k]) for k, v in _expected(dict, value, path).items()
                }, None  # fmt: skip
        if of in _NAMES:
            return {"type": _NAMES[of]}, lambda value, path: _expected(of, value, path), None
        # An alias that contains itself has a reference.
        if of in (None, Any, object) or type(of).__name__ == "ForwardRef":
            return {}, lambda value, path: value, None
        raise TypeError(f"{of} has no JSON form; use Any for values that are not checked")

    def _record(self, of: Any, tagged: bool) -> _Part:
        hints = get_type_hints(of, include_extras=True)
        if is_typeddict(of):
            required = [k for k in hints if k in of.__required_keys__ and _mark(hints[k]) != "NotRequired"]
        else:
            fields = [field for field in dataclasses.fields(of) if field.init]
            # A field without a default has the same mark as both defaults.
            required = [each.name for each in fields if self._sent or each.default is each.default_factory]
            hints = {field.name: hints[field.name] for field in fields}
        title = tag(of) if (tagged := tagged and "type" not in hints) else of.__name__

        def decode(value: Any, path: _Path) -> Any:
            if (value := _expected(dict, value, path)).get("type") != title and tagged:
                return _wrong(f"must be {title!r}", [*path, "type"])
            if missing := [key for key in required if key not in value]:
                return _wrong("is missing", [*path, missing[0]])
            read = {key: part[1](value[key], [*path, key]) for key, part in parts.items() if key in value}
            made = {**value, **read} if is_typeddict(of) else of(**read)
            # A default can be one object, which all values of the type would share.
            return made if len(read) == len(parts) else copy.deepcopy(made)

        if (of, tagged) not in self._records:
            # Another class can have the same name.
            name = f"{title}_{len(self._records)}" if title in self._schemas else title
            # A type can contain itself.
            members: dict[str, Any] = {"type": {"const": title}} if tagged else {}
            self._schemas[name] = {"type": "object", "required": [*members, *required], "properties": members}
            members |= {key: {} for key in hints}
            self._records[of, tagged] = {"$ref": f"#/$defs/{name}"}, decode, members
            parts = {key: self._part(hint) for key, hint in hints.items()}
            members |= {key: part[0] for key, part in parts.items()}
        return self._records[of, tagged]


def _case(parts: list[_Part], value: Any, path: _Path) -> Any:
    """Returns a value of the case of a union whose members are those of the value, or are most like them."""
    refusals, given = [], {*value} if isinstance(value, dict) else set[str]()
    for _, decode, members in sorted(parts, key=lambda part: len({*(part[2] or ())} ^ given)):
        # `type` shows the case of a value that has more members.
        unknown = set() if members is None or "type" in given & {*members} else given - {*members}
        try:
            return _wrong("is unknown", [*path, min(unknown)]) if unknown else decode(value, path)
        except Refusal as refusal:
            refusals.append(refusal)
    # A case that has another `type` does not name the fault.
    raise max(refusals, key=lambda refusal: (refusal.path != [*path, "type"], len(refusal.path)))


def _one_of(cases: dict[Any, Any], value: Any, path: _Path) -> Any:
    fits = [cases[case] for case in cases if case == value and type(case) is type(value)]
    return fits[0] if fits else _wrong(f"must be one of {[*cases]}", path)


def _mark(of: Any) -> Any:
    return getattr(get_origin(of), "__name__", None)


def _expected(of: Any, value: Any, path: _Path) -> Any:
    number = int(value) if of is int and type(value) is float and value.is_integer() else value
    fits = type(number) is of or (of is float and type(number) is int)
    return number if fits else _wrong(f"must be a JSON {_NAMES[of]}", path)


def _wrong(fault: str, path: _Path) -> Any:
    raise Refusal(f"{path[-1] if path else 'the value'} {fault}", path=path)

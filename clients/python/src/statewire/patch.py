# SPDX-License-Identifier: Apache-2.0
"""JSON Patch (RFC 6902) on states with shared structure.

A state that was returned by `value` never changes. A patch copies the containers on its path and shares all
others. Containers that were copied since the last call of `value` are changed in place. So a patch to a list
of 100,000 elements copies the list once for each call of `value`, not once for each patch.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any


class PatchError(ValueError):
    """A patch does not apply. The document is unchanged."""


_BAD_ESCAPE = re.compile(r"~(?![01])")
# The bound of the set of own containers; above it the set is cleared, and containers are copied again.
_MAXIMUM_OWN = 4096


class Document:
    """A JSON value to which patches are applied."""

    __slots__ = ("_own", "_root")

    def __init__(self, value: Any) -> None:
        self._root = value
        # Own containers by identity. The values keep them alive, so an identity is not reused.
        self._own: dict[int, Any] = {}

    def value(self) -> Any:
        """Returns the current value. No later patch changes it; the caller must not change it either."""
        if self._own:
            self._own = {}
        return self._root

    def apply(self, patch: object) -> None:
        """Applies all operations, or none.

        - Raises: `PatchError`; the document is unchanged then.
        """
        if not isinstance(patch, list):
            raise PatchError("the patch is not an array")
        if len(self._own) > _MAXIMUM_OWN:
            self._own = {}
        # One simple operation checks everything before it changes anything. Other patches may fail half-way,
        # so they work on copies.
        if len(patch) == 1 and isinstance(patch[0], dict) and patch[0].get("op") in _SIMPLE:
            self._perform(patch[0])
            return
        before = self.value()
        try:
            for operation in patch:
                self._perform(operation)
        except PatchError:
            self._root = before
            self._own = {}
            raise

    def _perform(self, operation: object) -> None:
        if not isinstance(operation, dict):
            raise PatchError("an operation is not an object")
        op = operation.get("op")
        path = _tokens(operation, "path")
        if op == "replace":
            self._replace(path, _value(operation))
        elif op == "add":
            self._add(path, _value(operation))
        elif op == "remove":
            self._remove(path)
        elif op == "move":
            self._move(_tokens(operation, "from"), path)
        elif op == "copy":
            value = self._get(_tokens(operation, "from"))
            # The value is now in two places, so it must not be changed in place.
            self._own = {}
            self._add(path, value)
        elif op == "test":
            if not same(self._get(path), _value(operation)):
                raise PatchError(f"test failed: the value at {operation['path']!r} differs")
        else:
            raise PatchError(f"unknown operation {op!r}")

    def _replace(self, path: list[str], value: Any) -> None:
        if not path:
            self._set_root(value)
            return
        parent, key = self._parent(path), path[-1]
        if type(parent) is list:
            parent[_index(key, len(parent) - 1)] = value
        elif key in parent:
            parent[key] = value
        else:
            raise PatchError(f"no member {key!r}")

    def _add(self, path: list[str], value: Any) -> None:
        if not path:
            self._set_root(value)
            return
        parent, key = self._parent(path), path[-1]
        if type(parent) is list:
            parent.insert(len(parent) if key == "-" else _index(key, len(parent)), value)
        else:
            parent[key] = value

    def _remove(self, path: list[str]) -> Any:
        if not path:
            raise PatchError("the whole document cannot be removed")
        parent, key = self._parent(path), path[-1]
        if type(parent) is list:
            return parent.pop(_index(key, len(parent) - 1))
        if key not in parent:
            raise PatchError(f"no member {key!r}")
        return parent.pop(key)

    def _move(self, source: list[str], path: list[str]) -> None:
        if source == path:
            self._get(source)
            return
        if path[: len(source)] == source:
            raise PatchError("a value cannot be moved into itself")
        self._add(path, self._remove(source))

    def _get(self, path: list[str]) -> Any:
        node = self._root
        for token in path:
            node = _child(node, token)
        return node

    def _set_root(self, value: Any) -> None:
        self._root = value
        self._own = {}

    def _parent(self, path: list[str]) -> Any:
        """Returns the container of the last token of the path. It and all containers on the path become own
        ones.
        """
        own = self._own
        node = self._root
        if id(node) not in own:
            node = self._root = self._copied(node)
        for token in path[:-1]:
            child = _child(node, token)
            if id(child) not in own:
                child = self._copied(child)
                node[int(token) if type(node) is list else token] = child
            node = child
        return node

    def _copied(self, container: Any) -> Any:
        if type(container) is list:
            copy: Any = container[:]
        elif type(container) is dict:
            copy = container.copy()
        else:
            raise PatchError("the parent is neither an array nor an object")
        self._own[id(copy)] = copy
        return copy


_SIMPLE = frozenset({"add", "remove", "replace"})


def apply(patch: object, value: Any) -> Any:
    """Returns the value after the patch. The given value is unchanged.

    - Raises: `PatchError` if the patch does not apply.
    """
    document = Document(value)
    document.apply(patch)
    return document.value()


def same(a: Any, b: Any) -> bool:
    """Compares two JSON values. Unlike `==`, it distinguishes `True` from `1`."""
    if type(a) is bool or type(b) is bool:
        return a is b
    if isinstance(a, dict):
        return isinstance(b, dict) and a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    if isinstance(a, list):
        return isinstance(b, list) and len(a) == len(b) and all(map(same, a, b))
    return bool(a == b)


def _tokens(operation: Mapping[str, Any], key: str) -> list[str]:
    pointer = operation.get(key)
    if not isinstance(pointer, str):
        raise PatchError(f"an operation has no string {key!r}")
    if pointer == "":
        return []
    if pointer[0] != "/":
        raise PatchError(f"{pointer!r} is not a JSON Pointer")
    if "~" not in pointer:
        return pointer[1:].split("/")
    if _BAD_ESCAPE.search(pointer):
        raise PatchError(f"{pointer!r} is not a JSON Pointer")
    return [token.replace("~1", "/").replace("~0", "~") for token in pointer[1:].split("/")]


def _value(operation: Mapping[str, Any]) -> Any:
    try:
        return operation["value"]
    except KeyError:
        raise PatchError("an operation has no value") from None


def _child(node: Any, token: str) -> Any:
    if type(node) is dict:
        try:
            return node[token]
        except KeyError:
            raise PatchError(f"no member {token!r}") from None
    if type(node) is list:
        return node[_index(token, len(node) - 1)]
    raise PatchError(f"the parent of {token!r} is neither an array nor an object")


def _index(token: str, last: int) -> int:
    # `int` would accept signs, blanks, underscores, leading zeros and digits of other scripts.
    if not (token.isdecimal() and token.isascii()) or (token[0] == "0" and token != "0"):
        raise PatchError(f"{token!r} is not an array index")
    if len(token) > 18:
        raise PatchError(f"index {token} is out of range")
    index = int(token)
    if index > last:
        raise PatchError(f"index {token} is out of range")
    return index

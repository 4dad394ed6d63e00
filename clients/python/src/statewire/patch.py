# SPDX-License-Identifier: Apache-2.0
"""JSON Patch (RFC 6902): operations that lead from one state to the next.

A state that was handed out never changes. A patch copies the containers on its way and shares all
others; containers that were copied since a state was last handed out belong to the document alone and
are changed in place. So a patch to a list of 100,000 costs a copy of the list where each state is looked
at, and next to nothing where many patches come between two looks.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any


class PatchError(ValueError):
    """A patch does not apply. The document is as it was before."""


_BAD_ESCAPE = re.compile(r"~(?![01])")
# Containers that are known to be the document's own, before they are forgotten.
_MAXIMUM_OWN = 4096


class Document:
    """A JSON value that is patched."""

    __slots__ = ("_own", "_root")

    def __init__(self, value: Any) -> None:
        self._root = value
        # By identity; the values keep them alive, so that no identity is used twice.
        self._own: dict[int, Any] = {}

    def value(self) -> Any:
        """The value as it is now, which no later patch changes. It must not be changed by others."""
        if self._own:
            self._own = {}
        return self._root

    def apply(self, patch: object) -> None:
        """Applies all operations, or none.

        - Raises: `PatchError`; the document is as it was before.
        """
        if not isinstance(patch, list):
            raise PatchError("a patch is an array")
        if len(self._own) > _MAXIMUM_OWN:
            self._own = {}
        # One simple operation checks everything before it changes anything. What may fail half-way
        # works on copies.
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
            raise PatchError("an operation is an object")
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
            # It now stands in two places: neither may be changed in place.
            self._own = {}
            self._add(path, value)
        elif op == "test":
            if not same(self._get(path), _value(operation)):
                raise PatchError(f"what is at {operation['path']!r} is something else")
        else:
            raise PatchError(f"there is no operation {op!r}")

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
            raise PatchError(f"there is no member {key!r}")

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
            raise PatchError(f"there is no member {key!r}")
        return parent.pop(key)

    def _move(self, source: list[str], path: list[str]) -> None:
        if source == path:
            self._get(source)
            return
        if path[: len(source)] == source:
            raise PatchError("nothing can be moved into itself")
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
        """The container that the path's last token is of, as the document's own, like all on the way."""
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
            raise PatchError("neither an array nor an object is there")
        self._own[id(copy)] = copy
        return copy


_SIMPLE = frozenset({"add", "remove", "replace"})


def apply(patch: object, value: Any) -> Any:
    """What the patch makes of a value, which itself is not changed.

    - Raises: `PatchError` where the patch does not apply.
    """
    document = Document(value)
    document.apply(patch)
    return document.value()


def same(a: Any, b: Any) -> bool:
    """Whether two JSON values are equal; Python alone would take `True` for `1`."""
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
        raise PatchError(f"an operation has no {key!r}")
    if pointer == "":
        return []
    if pointer[0] != "/":
        raise PatchError(f"{pointer!r} is no JSON Pointer")
    if "~" not in pointer:
        return pointer[1:].split("/")
    if _BAD_ESCAPE.search(pointer):
        raise PatchError(f"{pointer!r} is no JSON Pointer")
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
            raise PatchError(f"there is no member {token!r}") from None
    if type(node) is list:
        return node[_index(token, len(node) - 1)]
    raise PatchError(f"there is nothing that could have a member {token!r}")


def _index(token: str, last: int) -> int:
    # `int` alone would take a sign, blanks, underscores, leading zeros and digits of other scripts.
    if not (token.isdecimal() and token.isascii()) or (token[0] == "0" and token != "0"):
        raise PatchError(f"{token!r} is no index")
    if len(token) > 18:
        raise PatchError(f"there is no index {token}")
    index = int(token)
    if index > last:
        raise PatchError(f"there is no index {token}")
    return index

# SPDX-License-Identifier: Apache-2.0
"""States as the checker reads them: JSON Patch (RFC 6902) and a canonical form.

Shares no code with the clients of the project, so that a fault of theirs is not a fault of the checker too.
"""

import functools
import json
import sys


class PatchError(Exception):
    """A patch does not apply to the state."""


def canonical(value):
    """Returns the one text of a JSON value: sorted keys, no white space, integers without a fraction."""
    return json.dumps(_plain(value), sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def compact(state):
    """Returns an immutable value that equals that of another state if and only if the states are equal.

    The entries of a list are separate interned texts, so that a thousand states of a list share them.
    """
    if isinstance(state, dict) and isinstance(state.get("todos"), list):
        rest = {key: value for key, value in state.items() if key != "todos"}
        return (canonical(rest), *map(_interned, state["todos"]))
    return sys.intern(canonical(state))


def _interned(todo):
    try:
        # `True` equals 1, so the types are part of the key.
        return _text(tuple(todo.items()), tuple(map(type, todo.values())))
    except (AttributeError, TypeError):
        return sys.intern(canonical(todo))


@functools.lru_cache(maxsize=16384)
def _text(items, _types):
    return sys.intern(canonical(dict(items)))


def patched(state, operations):
    """Returns the state after a patch; the given state is unchanged.

    - Raises: `PatchError`.
    """
    root = {"": state}
    for operation in operations:
        _apply(root, operation)
    return root[""]


def _apply(root, operation):
    kind, path = operation.get("op"), operation.get("path")
    if kind == "add":
        _add(root, path, operation["value"])
    elif kind == "replace":
        parent, key = _place(root, path)
        _existing(parent, key)
        parent[key] = operation["value"]
    elif kind == "remove":
        _remove(root, path)
    elif kind == "move":
        _add(root, path, _remove(root, operation["from"]))
    else:
        raise PatchError(f"unknown operation {kind!r}")


def _place(root, path):
    """Returns the container that a JSON Pointer ends in, and the key or the index there.

    All containers on the way are replaced by copies, so that no earlier state changes.
    """
    if not isinstance(path, str) or (path and not path.startswith("/")):
        raise PatchError(f"{path!r} is not a JSON Pointer")
    tokens = ["", *(token.replace("~1", "/").replace("~0", "~") for token in path.split("/")[1:])]
    container = root
    for token in tokens[:-1]:
        key = _existing(container, _key(container, token))
        if not isinstance(container[key], (dict, list)):
            raise PatchError(f"{path!r} leads into a value")
        container[key] = container[key].copy()
        container = container[key]
    return container, _key(container, tokens[-1])


def _key(container, token):
    if isinstance(container, dict):
        return token
    if isinstance(container, list) and token.isdecimal() and (token == "0" or token[0] != "0"):
        return int(token)
    raise PatchError(f"no member {token!r}")


def _existing(container, key):
    if key in container if isinstance(container, dict) else isinstance(container, list) and key < len(container):
        return key
    raise PatchError(f"no member {key!r}")


def _add(root, path, value):
    container, key = _place(root, path)
    if isinstance(container, dict):
        container[key] = value
    elif key <= len(container):
        container.insert(key, value)
    else:
        raise PatchError(f"{path!r} is beyond the end")


def _remove(root, path):
    container, key = _place(root, path)
    _existing(container, key)
    return container.pop(key)


def _plain(value):
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return int(value)
    if isinstance(value, list):
        return [_plain(element) for element in value]
    if isinstance(value, dict):
        return {key: _plain(element) for key, element in value.items()}
    return value

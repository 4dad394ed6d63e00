# SPDX-License-Identifier: Apache-2.0
"""JSON Patch (RFC 6902) for the conformance runner: written for clarity, and independent of the libraries."""

import copy


class PatchError(Exception):
    """A patch does not apply."""


def same(a, b):
    """Compares JSON values; unlike ==, true is not 1."""
    if isinstance(a, bool) or isinstance(b, bool):
        return a is b
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(same, a, b))
    return type(a) is type(b) and a == b or (isinstance(a, (int, float)) and isinstance(b, (int, float)) and a == b)


def applied(patch, document):
    """Returns the document after a patch; the given one is unchanged."""
    if not isinstance(patch, list):
        raise PatchError("a patch is not an array")
    root = {"": copy.deepcopy(document)}
    for operation in patch:
        if not isinstance(operation, dict) or not isinstance(operation.get("path"), str):
            raise PatchError(f"{operation!r} is not an operation with a path")
        op, path = operation.get("op"), _tokens(operation["path"])
        if op in ("add", "replace", "test") and "value" not in operation:
            raise PatchError(f"{operation!r} has no value")
        value = copy.deepcopy(operation.get("value"))
        if op == "add":
            _add(root, path, value)
        elif op == "remove":
            _remove(root, path)
        elif op == "replace":
            _remove(root, path) if len(path) > 1 else None
            _add(root, path, value)
        elif op == "move":
            source = _tokens(operation.get("from"))
            if path[: len(source)] == source and path != source:
                raise PatchError("a value is moved into itself")
            _add(root, path, _remove(root, source))
        elif op == "copy":
            _add(root, path, copy.deepcopy(_get(root, _tokens(operation.get("from")))))
        elif op == "test":
            if not same(_get(root, path), value):
                raise PatchError(f"{operation!r} fails")
        else:
            raise PatchError(f"{op!r} is not an operation")
    return root[""]


def _tokens(pointer):
    """Returns the tokens of a JSON Pointer, beneath the member "" that is the document."""
    if not isinstance(pointer, str) or (pointer and pointer[0] != "/"):
        raise PatchError(f"{pointer!r} is not a JSON Pointer")
    tokens = pointer.split("/")
    for token in tokens:
        if "~" in token.replace("~0", "").replace("~1", ""):
            raise PatchError(f"{pointer!r} is not a JSON Pointer")
    return [token.replace("~1", "/").replace("~0", "~") for token in tokens]


def _get(node, tokens):
    for token in tokens:
        node = node[_index(node, token, len(node) - 1)] if isinstance(node, list) else _member(node, token)
    return node


def _member(node, token):
    if not isinstance(node, dict) or token not in node:
        raise PatchError(f"there is no member {token!r}")
    return node[token]


def _add(root, tokens, value):
    parent, last = _get(root, tokens[:-1]), tokens[-1]
    if isinstance(parent, list):
        parent.insert(len(parent) if last == "-" else _index(parent, last, len(parent)), value)
    elif isinstance(parent, dict):
        parent[last] = value
    else:
        raise PatchError(f"the parent of {last!r} is not a container")


def _remove(root, tokens):
    if len(tokens) == 1:
        raise PatchError("the whole document is removed")
    parent, last = _get(root, tokens[:-1]), tokens[-1]
    if isinstance(parent, list):
        return parent.pop(_index(parent, last, len(parent) - 1))
    _member(parent, last)
    return parent.pop(last)


def _index(node, token, largest):
    if not (token.isascii() and token.isdecimal()) or (token[0] == "0" and token != "0") or int(token) > largest:
        raise PatchError(f"{token!r} is not an index of an array with {len(node)} elements")
    return int(token)

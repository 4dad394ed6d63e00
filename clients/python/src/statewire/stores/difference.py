# SPDX-License-Identifier: Apache-2.0
"""The difference of two states as JSON Patch.

A part that is the same object in both is skipped without a look into it, so the cost follows the change.
Elements of lists are the same if they are the same object or have the same `id`: an insertion, a removal and
a move in a long list are one operation each.
"""

from __future__ import annotations

from itertools import compress, count
from operator import is_not
from typing import Any

from .effects import members

# A list with more moves is replaced, because each move searches the list.
_MAXIMUM_MOVES = 256


def difference(old: Any, new: Any) -> list[dict[str, Any]]:
    """Returns the operations that make `old` to `new`."""
    patch: list[dict[str, Any]] = []
    _value(old, new, "", patch)
    return patch


def _value(old: Any, new: Any, path: str, patch: list[dict[str, Any]]) -> None:
    if old is new:
        return
    a, b = members(old), members(new)
    # Two cases of a union have few members in common.
    if a is not None and b is not None and a.get("type") == b.get("type"):
        places = {key: f"{path}/{key.replace('~', '~0').replace('/', '~1')}" for key in [*a, *b]}
        patch.extend({"op": "remove", "path": places[key]} for key in a if key not in b)
        for key, value in b.items():
            if key in a:
                _value(a[key], value, places[key], patch)
            else:
                patch.append({"op": "add", "path": places[key], "value": value})
    elif isinstance(old, (list, tuple)) and isinstance(new, (list, tuple)):
        _list(old, new, path, patch)
    elif type(old) is not type(new) or old != new:
        patch.append({"op": "replace", "path": path, "value": new})


def _list(old: Any, new: Any, path: str, patch: list[dict[str, Any]]) -> None:
    shorter = min(len(old), len(new))
    start = next(compress(count(), map(is_not, old, new)), shorter)
    end = min(shorter - start, next(compress(count(), map(is_not, reversed(old), reversed(new))), shorter))
    a, b = old[start : len(old) - end], new[start : len(new) - end]
    before, after = [_key(x) for x in a], [_key(x) for x in b]
    if len(set(before)) < len(before) or len(set(after)) < len(after):
        # An id that occurs twice names no element: the elements are compared by their places.
        before, after = ([("place", index) for index in range(len(x))] for x in (a, b))
    places = {key: index for index, key in enumerate(before)}
    came = set(after)
    # The index in `a` of each element of `b`; -1 for new elements.
    sources = [places.get(key, -1) for key in after]
    for index, (one, other) in enumerate(zip(before, after, strict=False)):
        # An element without an id that is gone, and a new one at its place, are one element that has changed.
        if one not in came and other not in places and "id" not in (one[0], other[0]):
            sources[index] = index
    targets = {source: index for index, source in enumerate(sources)}
    first, moves = len(patch), 0
    for index in reversed(range(len(a))):
        if index not in targets:
            patch.append({"op": "remove", "path": f"{path}/{start + index}"})
    # The elements at this point of the patch, as indexes in `a`. Those before `index` are in their places.
    line = [source for source in range(len(a)) if source in targets]
    for index, source in enumerate(sources):
        if source < 0:
            line.insert(index, source)
            patch.append({"op": "add", "path": f"{path}/{start + index}", "value": b[index]})
            continue
        while line[index] != source:
            moves += 1
            if moves > _MAXIMUM_MOVES:
                patch[first:] = [{"op": "replace", "path": path, "value": new}]
                return
            # The element that is here moves if its place is further away than the element that belongs here.
            at, to = line.index(source, index), index
            if (away := targets[line[index]]) > at:
                at, to = index, min(away, len(line) - 1)
            line.insert(to, line.pop(at))
            patch.append({"op": "move", "from": f"{path}/{start + at}", "path": f"{path}/{start + to}"})
    for index, source in enumerate(sources):
        if source >= 0:
            _value(a[source], b[index], f"{path}/{start + index}", patch)


def _key(element: Any) -> Any:
    parts = members(element)
    name = parts.get("id") if parts is not None else None
    if isinstance(name, (str, int)):
        return ("id", type(name), name)
    if parts is not None or isinstance(element, (list, tuple)):
        return ("object", id(element))
    return ("value", type(element), element)

# SPDX-License-Identifier: Apache-2.0
"""The difference of two states as JSON Patch.

A part that is the same object in both is skipped without a look into it, so the cost follows the change.
Elements of lists are the same if they are the same object or have the same `id`: an insertion, a removal and
a move in a long list are one operation each.
"""

from __future__ import annotations

import bisect
import dataclasses
from itertools import compress, count
from operator import is_not
from typing import Any

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
    a, b = _members(old), _members(new)
    # Two cases of a union have few members in common.
    if a is not None and b is not None and a.get("type") == b.get("type"):
        for key in a:
            if key not in b:
                patch.append({"op": "remove", "path": f"{path}/{_token(key)}"})
        for key, value in b.items():
            place = f"{path}/{_token(key)}"
            if key in a:
                _value(a[key], value, place, patch)
            else:
                patch.append({"op": "add", "path": place, "value": value})
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
    # The index in `a` of each element of `b`; -1 for new elements.
    sources = _paired(before, after)
    kept = set(sources)
    stay = set(_increasing([source for source in sources if source >= 0]))
    if len(kept) - len(stay) > _MAXIMUM_MOVES:
        patch.append({"op": "replace", "path": path, "value": new})
        return
    # The elements at this point of the patch, as indexes in `a`.
    line = list(range(len(a)))
    for index in reversed(range(len(a))):
        if index not in kept:
            patch.append({"op": "remove", "path": f"{path}/{start + index}"})
            del line[index]
    # The elements up to `position` are those of `b` that were seen, and some that move later.
    position = -1
    for source, value in zip(sources, b, strict=True):
        if source in stay:
            position = line.index(source, position + 1)
        elif source >= 0:
            index = line.index(source)
            del line[index]
            position += index > position
            line.insert(position, source)
            moved = {"op": "move", "from": f"{path}/{start + index}", "path": f"{path}/{start + position}"}
            patch.extend([moved] if index != position else [])
        else:
            position += 1
            line.insert(position, -1)
            patch.append({"op": "add", "path": f"{path}/{start + position}", "value": value})
    for index, source in enumerate(sources):
        if source >= 0:
            _value(a[source], b[index], f"{path}/{start + index}", patch)


def _paired(before: list[Any], after: list[Any]) -> list[int]:
    """Returns the index in `before` of each key of `after`, -1 for none.

    An element without an id that is gone, and a new one at the same place, are one element that has changed.
    """
    places = {key: index for index, key in enumerate(before)}
    sources = [places.get(key, -1) for key in after]
    stay = set(_increasing([source for source in sources if source >= 0]))
    kept = set(sources)
    gone: dict[int, list[int]] = {}
    last = -1
    for index, key in enumerate(before):
        if index in stay:
            last = index
        elif index not in kept and key[0] != "id":
            gone.setdefault(last, []).append(index)
    last = -1
    for index, source in enumerate(sources):
        if source in stay:
            last = source
        elif source < 0 and after[index][0] != "id" and gone.get(last):
            sources[index] = gone[last].pop(0)
    return sources


def _increasing(numbers: list[int]) -> list[int]:
    """Returns a longest increasing subsequence."""
    tails: list[int] = []
    lasts: list[int] = []
    previous: list[int] = [-1] * len(numbers)
    for index, number in enumerate(numbers):
        place = bisect.bisect(tails, number)
        tails[place : place + 1] = [number]
        lasts[place : place + 1] = [index]
        previous[index] = lasts[place - 1] if place else -1
    result: list[int] = []
    index = lasts[-1] if lasts else -1
    while index >= 0:
        result.append(numbers[index])
        index = previous[index]
    return result[::-1]


def _key(element: Any) -> Any:
    members = _members(element)
    name = members.get("id") if members is not None else None
    if isinstance(name, (str, int)):
        return ("id", type(name), name)
    if members is not None or isinstance(element, (list, tuple)):
        return ("object", id(element))
    return ("value", type(element), element)


def _members(value: Any) -> Any:
    if isinstance(value, dict):
        return value
    if dataclasses.is_dataclass(value):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    return None


def _token(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")

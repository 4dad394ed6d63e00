# SPDX-License-Identifier: Apache-2.0
"""The difference of two states as JSON Patch.

A part that is the same object in both is skipped without a look into it, so the cost follows the change.
Elements of lists are the same if they are the same object or have the same `id`: an insertion, a removal and
a move in a long list are one operation each.
"""

from itertools import compress, count
from operator import is_not
from typing import Any

from .effects import checked, members, place

# Stands for a value that the other side does not have. It differs from each value.
MISSING: Any = object()


def difference(old: Any, new: Any, path: str = "") -> list[dict[str, Any]]:
    """Returns the operations that make `old`, the value at `path`, to `new`."""
    if old is new:
        return []
    if isinstance(old, (list, tuple)) and isinstance(new, (list, tuple)):
        return _elements(old, new, path)
    a, b = members(old), members(new)
    # Two cases of a union have few members in common.
    if a is not None and b is not None and a.get("type") == b.get("type"):
        return _members(a, b, path)
    # 0 and False are equal in Python, but not in JSON.
    is_same = old == new and isinstance(old, bool) == isinstance(new, bool)
    op = "add" if old is MISSING else "replace"
    return [] if is_same else [{"op": op, "path": path, "value": checked(new, path)}]


def _members(old: dict[str, Any], new: dict[str, Any], path: str) -> list[dict[str, Any]]:
    patch: list[dict[str, Any]] = [{"op": "remove", "path": place(path, k)} for k in old if k not in new]
    for key, value in new.items():
        if value is not (before := old.get(key, MISSING)):
            patch += difference(before, value, place(path, key))
    return patch


def _elements(old: Any, new: Any, path: str) -> list[dict[str, Any]]:
    shorter = min(len(old), len(new))
    start = next(compress(count(), map(is_not, old, new)), shorter)
    end = min(shorter - start, next(compress(count(), map(is_not, reversed(old), reversed(new))), shorter))
    a, b = old[start : len(old) - end], new[start : len(new) - end]
    before, after = [_key(x) for x in a], [_key(x) for x in b]
    if len(set(before)) < len(before) or len(set(after)) < len(after):
        # An id that occurs twice names no element: the elements are compared by their places.
        before, after = [*range(len(a))], [*range(len(b))]
    olds, news = dict(zip(before, a, strict=True)), set(after)
    for index, (gone, came) in enumerate(zip(before, after, strict=False)):
        # An element without an id that is gone, and a new one at its place, are one element that has changed.
        if gone not in news and came not in olds and "id" not in (gone[0], came[0]):
            after[index] = gone
    # First the other elements are removed, then those of both lists are sorted, then new ones are added.
    ranks = {key: rank for rank, key in enumerate(key for key in after if key in olds)}
    gone_at = [start + index for index, key in enumerate(before) if key not in ranks]
    patch: list[dict[str, Any]] = [{"op": "remove", "path": f"{path}/{index}"} for index in reversed(gone_at)]
    line, maximum = [ranks[key] for key in before if key in ranks], len(patch) + 256
    for rank in range(len(line)):
        while line[rank] != rank:
            # A list with more moves is replaced, because each move searches the list.
            if len(patch) == maximum:
                return [{"op": "replace", "path": path, "value": checked(new, path)}]
            # The element that is here moves if its place is further away than the element that belongs here.
            found, away = line.index(rank, rank), line[rank]
            at, to = (rank, away) if away > found else (found, rank)
            line.insert(to, line.pop(at))
            patch.append({"op": "move", "from": f"{path}/{start + at}", "path": f"{path}/{start + to}"})
    for index, (key, each) in enumerate(zip(after, b, strict=True), start):
        if each is not (before := olds.get(key, MISSING)):
            patch += difference(before, each, f"{path}/{index}")
    return patch


def _key(element: Any) -> Any:
    """Returns a key of an element: its id, itself or its value."""
    name = element.get("id") if isinstance(element, dict) else getattr(element, "id", None)
    if isinstance(name, (str, int)):
        return "id", type(name), name
    is_plain = element is None or isinstance(element, (str, int, float))
    return ("value", type(element), element) if is_plain else ("object", id(element))

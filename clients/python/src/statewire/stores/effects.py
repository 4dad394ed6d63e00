# SPDX-License-Identifier: Apache-2.0
"""Effects and events, which an update returns as data and the server carries out, and refusals."""

import enum
import json
from collections.abc import Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, Literal


@dataclass(frozen=True)
class Effect:
    """An effect, an event or a redaction: its type and its members in the form of the protocol."""

    type: str
    members: dict[str, Any]


class Refusal(Exception):
    """Refuses an input or a configuration.

    `path` leads into it: names of members and indexes of elements. `limit` is the name of an exceeded limit.
    """

    def __init__(self, message: str, path: Sequence[str | int] = (), limit: str | None = None) -> None:
        super().__init__(message)
        # `str` of an enum member is its name.
        self.message, self.limit = str(message), limit if isinstance(limit, (str, type(None))) else str(limit)
        # A text is one name.
        names = [path] if isinstance(path, str) else path
        self.path = [x if isinstance(x, (int, str)) else str(x) for x in names]


def action(action: Any, *, name: str | None = None, id: str | None = None, failed: Any = None,
           latest: bool = False) -> Effect:  # fmt: skip
    """Applies an action before later inputs. A test can inject faults into `name`: then it is `failed`."""
    return _effect("action", {"action": tagged(action)}, failed, name=name, id=id, latest=latest or None)


def after(milliseconds: int, action: Any, id: str | None = None) -> Effect:
    """Sends an action when the time has passed."""
    return _effect("after", {"milliseconds": milliseconds, "action": tagged(action)}, id=id)


def every(milliseconds: int, action: Any, id: str) -> Effect:
    """Sends an action again and again until `cancel(id)`. Nothing changes if an `every` with this id runs."""
    return _effect("every", {"milliseconds": milliseconds, "action": tagged(action), "id": id})


def cancel(id: str) -> Effect:
    """Cancels the effects of the store with this id."""
    return _effect("cancel", {"id": id})


def run(name: str, arguments: Any = None, *, id: str | None = None, failed: Any = None, latest: bool = False,
        serial: str | None = None, debounce: int | None = None, throttle: int | None = None,
        retry: tuple[int, int] | None = None, timeout: int | None = None,
        restart: Literal["fail", "again"] | None = None) -> Effect:  # fmt: skip
    """Asks for the work `runs[name]`, which gives an action. `failed` is the action if the work fails.

    `retry` has the attempts and the first wait. All times are milliseconds.
    """
    return _effect("run", {"name": name}, arguments=arguments, id=id, failed=failed, latest=latest or None,
                   serial=serial, debounce=debounce, throttle=throttle, timeout=timeout, restart=restart,
                   retry=retry and {"attempts": retry[0], "milliseconds": retry[1]})  # fmt: skip


def event(event: Any, to: Sequence[str] | None = None) -> Effect:
    """Sends an event once, to all subscribers or to the viewers in `to`."""
    return _effect("event", {"event": tagged(event)}, to=to if to is None or type(to) is str else list(to))


def redacted() -> Effect:
    """Marks the change as one that hides something that clients have received."""
    return Effect("redacted", {})


def _effect(kind: str, needed: dict[str, Any], failed: Any = None, **others: Any) -> Effect:
    """Makes an effect. Raises `TypeError` if it breaks the rules of the store protocol."""
    members = checked({**needed, **given(**others, failed=tagged(failed))})
    policies = members.keys() & {"latest", "debounce", "throttle"}
    if policies >= {"debounce", "throttle"} or (policies and "id" not in members):
        raise TypeError("latest, debounce and throttle need an id; debounce and throttle exclude each other")
    for name, value in (members | members["retry"] if "retry" in members else members).items():
        fits = _RULES.get(name)
        if value is None or (fits and not fits(value.value if isinstance(value, enum.Enum) else value, kind)):
            raise TypeError(f"{name} of the effect {kind} cannot be {value!r}")
    return Effect(kind, members)


# The rules for the members of effects, by their names. The server ends a program that breaks one.
_RULES: dict[str, Any] = {
    **dict.fromkeys(("id", "name", "serial"), lambda it, kind: isinstance(it, str)),
    **dict.fromkeys(("milliseconds", "debounce", "throttle", "timeout"), lambda it, kind: (
        type(it) is int and (1 if kind == "every" else 0) <= it <= 86_400_000_000)),
    "attempts": lambda it, kind: type(it) is int and 1 <= it <= 1_000,
    "latest": lambda it, kind: it is True, "restart": lambda it, kind: it in ("fail", "again"),
    "to": lambda it, kind: isinstance(it, list) and all(isinstance(checked(x), str) for x in it)}  # fmt: skip


def tagged(value: Any) -> Any:
    """Returns the JSON form of an input, action or event: a data class has its name as `type`."""
    return {"type": tag(type(value)), **members(value)} if is_dataclass(value) else value


def tag(cls: type) -> str:
    """Returns the `type` of a class: its name, which begins with a small letter."""
    return cls.__name__[0].lower() + cls.__name__[1:]


def members(value: Any) -> Any:
    """Returns the members of a dictionary or of a data class; None for other values."""
    if isinstance(value, dict):
        return value
    return {each.name: getattr(value, each.name) for each in fields(value)} if is_dataclass(value) else None


def given(**members: Any) -> dict[str, Any]:
    """Returns the members that are not None."""
    return {name: value for name, value in members.items() if value is not None}


def checked(value: Any, path: str = "") -> Any:
    """Returns the value, or that of an enum member. Raises `TypeError` with the path of what is not JSON."""
    value = value.value if isinstance(value, enum.Enum) else value
    parts = {str(i): p for i, p in enumerate(value)} if isinstance(value, (list, tuple)) else members(value)
    # A value that contains itself ends here; the server accepts only a few more levels.
    if (parts is None and not _is_flat(value)) or path.count("/") > 120:
        raise TypeError(f"a {type(value).__name__} cannot be represented in JSON{path and ', at '}{path}")
    for key, part in (parts or {}).items():
        _ = (type(key) is str and key.isascii() and _is_flat(part)) or checked(part, place(path, key))
    return value


def _is_flat(value: Any) -> bool:
    """Returns true for JSON without parts: no lone surrogate, and a number that a double can represent."""
    fits = isinstance(value, str) and (value.isascii() or value == value.encode(errors="ignore").decode())
    return fits or value is None or (isinstance(value, (int, float)) and abs(value) <= 1.7976931348623157e308)


def place(path: str, key: Any) -> str:
    """Returns the path of a member of the value at a path; raises `TypeError` if the key is not JSON."""
    if not (isinstance(key, str) and _is_flat(key)):
        raise TypeError(f"the key {key!r} cannot be represented in JSON{path and ', at '}{path}")
    return f"{path}/{key.replace('~', '~0').replace('/', '~1')}"


# Returns the JSON form of a checked value that json does not know.
_form: Any = lambda value: value.value if isinstance(value, enum.Enum) else members(value)  # noqa: E731

# Returns the JSON text of a checked value; raises `ValueError` if it has none, such as NaN.
text = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=_form).encode


def plain(value: Any) -> Any:
    """Returns the JSON form of a value as the other side receives it."""
    return json.loads(text(checked(value)))

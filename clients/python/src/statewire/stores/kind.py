# SPDX-License-Identifier: Apache-2.0
"""A store kind, which an author writes, and a store of it, which turns requests into updates."""

from __future__ import annotations

import dataclasses
import functools
import inspect
import json
import typing
from collections.abc import Callable, Mapping
from typing import Any, Literal

from .difference import difference
from .effects import Effect, plain
from .types import decode, schema

# A patch that is this much longer than the state is replaced by it. Short states are patched, so that clients
# see what has changed.
_SLACK = 256


@dataclasses.dataclass(frozen=True)
class Viewer:
    """A client of a store; all members are None for the server."""

    identity: str | None = None
    frontend: str | None = None
    role: str | None = None


@dataclasses.dataclass(frozen=True)
class Context:
    """The circumstances of an input or action: an optional last parameter of `initial` and `update`."""

    name: str
    configuration: Any
    now: int
    viewer: Viewer = Viewer()
    is_action: bool = False
    # `reason` and `message`, if the action stands for a failure.
    error: dict[str, str] | None = None


@dataclasses.dataclass(frozen=True)
class StoreKind:
    """A store kind.

    - `initial` is a state or a function of the configuration.
    - `update(state, event)` returns the next state for an input or action, or a pair of it and its effects.
      None stands for an unchanged state.
    - `view(state, viewer, configuration)` returns what clients receive; None for the state. With `views_by`,
      the viewer has this property only. The view of all other clients is that of a viewer without properties.
    - `viewers(state, viewers)` is an update for changed subscribers.
    - `migrate(version, state)` converts a state of an older `version`.
    - `runs` has the work by name.
    - The types are data classes, TypedDicts and what these are made of. If `state`, `inputs` or `actions` is
      not given, it is the type of the parameter of `update`.
    """

    initial: Any
    update: Callable[..., Any]
    view: Callable[..., Any] | None = None
    views_by: Literal["identity", "frontend", "role"] | None = None
    viewers: Callable[..., Any] | None = None
    migrate: Callable[[int, Any], Any] | None = None
    version: int = 1
    runs: Mapping[str, Callable[..., Any]] = dataclasses.field(default_factory=dict)
    configuration: Any = None
    state: Any = None
    inputs: Any = None
    actions: Any = None
    events: Any = None

    def __post_init__(self) -> None:
        state, event, *_ = [*_hints(self.update).values(), Any, Any]
        for name, hint in {"state": state, "inputs": event, "actions": event}.items():
            if (
                getattr(self, name) is None
                and typing.get_origin(hint) is not dict
                and hint not in (Any, dict, object)
            ):
                object.__setattr__(self, name, hint)

    def description(self) -> dict[str, Any]:
        """Returns the result of `machine/describe`."""
        seen = self.state if self.view is None else _hints(self.view, "return").get("return")
        schemas = {
            "configuration": self.configuration and schema(self.configuration),
            "input": self.inputs and schema(self.inputs, tagged=True),
            "viewState": seen and schema(seen),
            "event": self.events and schema(self.events, tagged=True),
        }
        watches = self.viewers is not None or self.views_by is not None
        return {
            "protocol": 1,
            "version": self.version,
            "schemas": {name: value for name, value in schemas.items() if value},
            **({"viewsBy": self.views_by} if self.views_by else {}),
            **({"watchesViewers": True} if watches else {}),
        }


class Machine:
    """One store. Each method returns a result of the protocol as JSON text, or raises and changes nothing."""

    def __init__(self, kind: StoreKind, name: str, configuration: Any) -> None:
        self.kind, self.name = kind, name
        self.configuration = (
            decode(kind.configuration, configuration) if kind.configuration else configuration
        )
        self.state: Any = None
        # What the server has: the state, the view and the views, with their approximate sizes as JSON.
        self._sent: dict[tuple[str, ...], tuple[Any, int]] = {}
        self._viewers: list[Viewer] = []

    def open(self, viewer: Viewer, now: int) -> str:
        initial = self.kind.initial
        context = Context(self.name, self.configuration, now, viewer)
        return self._step(call(initial, self.configuration, context) if callable(initial) else initial)

    def restore(self, version: int, state: Any, now: int) -> str:
        if version > self.kind.version or (version < self.kind.version and self.kind.migrate is None):
            raise ValueError(f"a state of version {version} cannot be used by version {self.kind.version}")
        if version == self.kind.version:
            restored = decode(self.kind.state, state) if self.kind.state else state
            self._sent["state",] = (restored, len(text(restored)))
            return self._step(restored)
        assert self.kind.migrate is not None
        return self._step(self.kind.migrate(version, state))

    def input(self, value: Any, viewer: Viewer, now: int) -> str:
        event = decode(self.kind.inputs, value, tagged=True) if self.kind.inputs else value
        return self._step(
            call(self.kind.update, self.state, event, Context(self.name, self.configuration, now, viewer))
        )

    def action(self, value: Any, error: dict[str, str] | None, now: int) -> str:
        event = decode(self.kind.actions, value, tagged=True) if self.kind.actions else value
        context = Context(self.name, self.configuration, now, is_action=True, error=error)
        return self._step(call(self.kind.update, self.state, event, context))

    def viewers(self, viewers: list[Viewer], now: int) -> str:
        before, self._viewers = self._viewers, viewers
        try:
            function, context = self.kind.viewers, Context(self.name, self.configuration, now)
            return self._step(call(function, self.state, viewers, context) if function else self.state)
        except Exception:
            self._viewers = before
            raise

    @property
    def view(self) -> Any:
        """What clients receive that have no view of their own."""
        return self._sent.get(("view",), (self.state, 0))[0]

    def _seen(self, state: Any, viewer: Viewer) -> Any:
        return self.kind.view and call(self.kind.view, state, viewer, self.configuration)

    def _step(self, result: Any) -> str:
        is_pair = isinstance(result, tuple) and len(result) == 2
        state, effects = result if is_pair else (result, [])
        state = self.state if state is None else state
        update: dict[str, Any] = {}
        sent = dict(self._sent)
        self._change(update, sent, ("state",), state)
        seen = self._seen(state, Viewer())
        if seen is not None:
            by = self.kind.views_by
            self._change(update, sent, ("view",), seen)
            keys = {getattr(viewer, by): None for viewer in self._viewers} if by else {}
            views: dict[str, Any] = {key[1]: None for key in sent if len(key) > 1 and key[1] not in keys}
            for key in views:
                del sent["view", key]
            for key in keys:
                if by and key is not None:
                    entry: dict[str, Any] = {}
                    self._change(entry, sent, ("view", key), self._seen(state, Viewer(**{by: key})))
                    views.update({key: entry} if entry else {})
            update.update({"views": views} if views else {})
        for effect in [effects] if isinstance(effects, Effect) else effects:
            if effect.type == "event":
                update.setdefault("events", []).append(effect.members)
            elif effect.type == "redacted":
                update["redacted"] = True
            else:
                update.setdefault("effects", []).append({"type": effect.type, **effect.members})
        answer = text(update)
        self.state, self._sent = state, sent
        return answer

    @staticmethod
    def _change(
        update: dict[str, Any], sent: dict[tuple[str, ...], tuple[Any, int]], key: tuple[str, ...], new: Any
    ) -> None:
        """Adds the change of a value to an update: as a patch, or the value if that is shorter."""
        name = key[0]
        if key not in sent:
            update[name] = new
            sent[key] = (new, len(text(new)))
            return
        old, size = sent[key]
        patch = difference(old, new)
        length = len(text(patch)) if patch else 0
        # The state is measured only after a large change, so that the cost follows the change.
        if length > size // 2:
            size = len(text(new))
        if length > size + _SLACK or (patch and patch[0]["path"] == ""):
            update[name] = new
        elif patch:
            update["patch" if name == "state" else "viewPatch"] = patch
        sent[key] = (new, size)


def text(value: Any) -> str:
    """Returns the JSON text of a value.

    - Raises: `TypeError` or `ValueError` for values without one, such as NaN.
    """
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=plain)


def call(function: Callable[..., Any], *arguments: Any) -> Any:
    """Calls a function with as many of the arguments as it has parameters."""
    return function(*arguments[: _arity(function)])


@functools.lru_cache(maxsize=64)
def _arity(function: Callable[..., Any]) -> int | None:
    """Returns the number of positional parameters; None for any number."""
    kinds = [parameter.kind for parameter in inspect.signature(function).parameters.values()]
    if inspect.Parameter.VAR_POSITIONAL in kinds:
        return None
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return sum(kind in positional for kind in kinds)


def _hints(function: Callable[..., Any], *names: str) -> dict[str, Any]:
    """Returns the annotations of parameters; Any for those without one."""
    try:
        hints = typing.get_type_hints(function, include_extras=True)
        return {name: hints.get(name, Any) for name in names or inspect.signature(function).parameters}
    except (NameError, TypeError):
        return {}

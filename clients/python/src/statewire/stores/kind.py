# SPDX-License-Identifier: Apache-2.0
"""A store kind, which an author writes, and a store of it, which turns requests into updates."""

from __future__ import annotations

import dataclasses
import functools
import inspect
import typing
from collections.abc import Callable, Mapping
from typing import Any, Literal

from .difference import difference
from .effects import Effect, text
from .types import Form

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
        state, event, *_ = [*_hints(self.update)[:-1], None, None]
        for name, hint in {"state": state, "inputs": event, "actions": event}.items():
            if getattr(self, name) is None and dict not in (hint, typing.get_origin(hint)):
                object.__setattr__(self, name, hint)

    @functools.cached_property
    def forms(self) -> dict[str, Form]:
        """The forms of the types, by the names in the protocol."""
        return {
            "configuration": Form(self.configuration), "state": Form(self.state),
            "input": Form(self.inputs, tagged=True), "action": Form(self.actions, tagged=True),
            "event": Form(self.events, tagged=True),
            "viewState": Form(_hints(self.view)[-1] if self.view else self.state),
        }  # fmt: skip

    def description(self) -> dict[str, Any]:
        """Returns the result of `machine/describe`."""
        watches = self.viewers is not None or self.views_by is not None
        public = ("configuration", "input", "viewState", "event")
        return {
            "protocol": 1,
            "version": self.version,
            "schemas": {name: schema for name in public if (schema := self.forms[name].schema)},
            **({"viewsBy": self.views_by} if self.views_by else {}),
            **({"watchesViewers": True} if watches else {}),
        }


class Machine:
    """One store, which turns the requests of the protocol into updates."""

    def __init__(self, kind: StoreKind) -> None:
        self.kind = kind
        self.state: Any = None
        self._name, self._configuration = "", None
        self._viewers: list[Viewer] = []
        # What the server has, with its approximate size as JSON: the state, the view, and the views.
        self._sent: dict[tuple[str, str | None], tuple[Any, int]] = {}

    @property
    def view(self) -> Any:
        """What clients receive that have no view of their own."""
        return self._sent.get(("view", None), (self.state, 0))[0]

    def turn(self, method: str, params: Mapping[str, Any]) -> str:
        """Answers `machine/METHOD` with an update as JSON text, or raises and changes nothing."""
        kind, forms = self.kind, self.kind.forms
        if method in ("open", "restore"):
            self._name = params["name"]
            self._configuration = forms["configuration"].decode(params["configuration"])
        context = Context(
            self._name, self._configuration, params.get("now", 0), _viewer(params.get("viewer", {})),
            is_action=method == "action", error=params.get("error"),
        )  # fmt: skip
        match method:
            case "open":
                first = kind.initial
                return self._step(call(first, self._configuration, context) if callable(first) else first)
            case "restore":
                version, state = params["version"], params["state"]
                if version == kind.version:
                    state = forms["state"].decode(state)
                    self._sent["state", None], _ = _changed(None, state)
                elif version < kind.version and kind.migrate:
                    state = kind.migrate(version, state)
                else:
                    raise ValueError(f"a state of version {version} cannot be used by version {kind.version}")
                return self._step(state)
            case "input" | "action":
                event = forms[method].decode(params[method])
                return self._step(call(kind.update, self.state, event, context))
            case "viewers":
                viewers = [_viewer(members) for members in params["viewers"]]
                result = call(kind.viewers, self.state, viewers, context) if kind.viewers else None
                return self._step(result, viewers)
        raise NotImplementedError(f"unknown method machine/{method}")

    def _step(self, result: Any, viewers: list[Viewer] | None = None) -> str:
        state, effects = result if isinstance(result, tuple) and len(result) == 2 else (result, [])
        state = self.state if state is None else state
        viewers = self._viewers if viewers is None else viewers
        parts = self._parts(state, viewers)
        views = {key[1]: None for key in self._sent if key[1] is not None and key not in parts}
        update: dict[str, Any] = {"views": views} if views else {}
        sent = {}
        for (name, viewer), part in parts.items():
            sent[name, viewer], patch = _changed(self._sent.get((name, viewer)), part)
            if patch != []:
                target = update if viewer is None else update.setdefault("views", {}).setdefault(viewer, {})
                patched = "patch" if name == "state" else "viewPatch"
                target.update({name: part} if patch is None else {patched: patch})
        for effect in [effects] if isinstance(effects, Effect) else effects:
            if effect.type == "event":
                update.setdefault("events", []).append(effect.members)
            elif effect.type == "redacted":
                update["redacted"] = True
            else:
                update.setdefault("effects", []).append({"type": effect.type, **effect.members})
        answer = text(update)
        self.state, self._sent, self._viewers = state, sent, viewers
        return answer

    def _parts(self, state: Any, viewers: list[Viewer]) -> dict[tuple[str, str | None], Any]:
        """Returns the state, the view of everyone, and those of single viewers."""
        view, by = self.kind.view, self.kind.views_by
        everyone = call(view, state, Viewer(), self._configuration) if view else None
        if not view or everyone is None:
            return {("state", None): state}
        names = {getattr(viewer, by) for viewer in viewers} - {None} if by else set()
        single = {name: Viewer(**{by or "": name}) for name in names}
        return {("state", None): state, ("view", None): everyone} | {
            ("view", name): call(view, state, viewer, self._configuration) for name, viewer in single.items()
        }


def _changed(sent: tuple[Any, int] | None, new: Any) -> tuple[tuple[Any, int], list[dict[str, Any]] | None]:
    """Returns what the server has after a change, and the patch; None if the whole value is to be sent."""
    if sent is None:
        return (new, len(text(new))), None
    old, size = sent
    patch = difference(old, new)
    length = len(text(patch)) if patch else 0
    # The value is measured only after a large change, so that the cost follows the change.
    if length > size // 2:
        size = len(text(new))
    is_whole = length > size + _SLACK or (patch and patch[0]["path"] == "")
    return (new, size), None if is_whole else patch


def _viewer(members: Mapping[str, Any]) -> Viewer:
    return Viewer(members.get("identity"), members.get("frontend"), members.get("role"))


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


def _hints(function: Callable[..., Any]) -> list[Any]:
    """Returns the types of the parameters and of the result; None for those without one."""
    try:
        hints = typing.get_type_hints(function, include_extras=True)
        return [hints.get(name) for name in [*inspect.signature(function).parameters, "return"]]
    except (NameError, TypeError):
        return [None]

# SPDX-License-Identifier: Apache-2.0
"""A store kind, which an author writes, and a store of it, which turns requests into updates."""

import dataclasses
import functools
import inspect
import json
from collections.abc import Callable, Mapping
from typing import Any, Literal, get_origin, get_type_hints

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
            if getattr(self, name) is None and dict not in (hint, get_origin(hint)):
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
        public = ("configuration", "input", "viewState", "event")
        schemas = {name: schema for name in public if (schema := self.forms[name].schema)}
        watches = bool(self.viewers or self.views_by)
        views = {"viewsBy": self.views_by} if self.views_by else {}
        return {"protocol": 1, "version": self.version, "schemas": schemas, "watchesViewers": watches} | views


class Machine:
    """One store, which turns the requests of the protocol into updates."""

    def __init__(self, kind: StoreKind, name: str, configuration: Any) -> None:
        # `view` is what clients receive that have no view of their own.
        self.state: Any = None
        self.view: Any = None
        self._kind, self._name = kind, name
        self._configuration = kind.forms["configuration"].decode(configuration)
        self._viewers: list[Viewer] = []
        # What the server has, each with its approximate length as JSON: the state, and the views by the
        # property of a viewer; None stands for everyone.
        self._sent: _Sent | None = None
        self._views: dict[str | None, _Sent] = {}

    def turn(self, method: str, params: Mapping[str, Any]) -> str:
        """Answers `machine/METHOD` with an update as JSON text, or raises and changes nothing."""
        kind = self._kind
        context = Context(
            self._name, self._configuration, params.get("now", 0), _viewer(params.get("viewer", {})),
            is_action=method == "action", error=params.get("error"))  # fmt: skip
        if method == "open":
            first = kind.initial
            result = call(first, self._configuration, context) if callable(first) else first
        elif method == "restore":
            result = self._restored(params["version"], params["state"])
        elif method == "viewers":
            self._viewers = [_viewer(members) for members in params["viewers"]]
            result = call(kind.viewers, self.state, self._viewers, context) if kind.viewers else None
        else:
            event = kind.forms[method].decode(params[method])
            result = call(kind.update, self.state, event, context)
        state, effects = result if isinstance(result, tuple) and len(result) == 2 else (result, [])
        return self._update(self.state if state is None else state, effects)

    def _restored(self, version: int, state: Any) -> Any:
        kind = self._kind
        if version < kind.version and kind.migrate:
            new = kind.migrate(version, state)
            # Also a state in its JSON form; other values are refused with the path of the fault.
            return new if kind.state is None else kind.forms["state"].decode(json.loads(text(new)))
        if version != kind.version:
            raise ValueError(f"a state of version {version} cannot be used by version {kind.version}")
        new = kind.forms["state"].decode(state)
        form = text(new)
        # The type may have new members with defaults, which the state of the server does not have.
        self._sent = (new, len(form)) if json.loads(form) == state else None
        return new

    def _update(self, state: Any, effects: Any) -> str:
        """Returns the update to a state; then the server has it."""
        sent, update = _change(self._sent, state, "state", "patch")
        views: dict[str | None, _Sent] = {}
        # A view that there is no more is null in the update.
        changes: dict[str | None, Any] = dict.fromkeys(self._views)
        for name, view in self._seen(state).items():
            views[name], changes[name] = _change(self._views.get(name), view, "view", "viewPatch")
        update |= changes.pop(None, None) or {}
        if single := {name: change for name, change in changes.items() if change != {}}:
            update["views"] = single
        for effect in [effects] if isinstance(effects, Effect) else effects:
            if effect.type == "event":
                update.setdefault("events", []).append(effect.members)
            elif effect.type == "redacted":
                update["redacted"] = True
            else:
                update.setdefault("effects", []).append({"type": effect.type, **effect.members})
        response = text(update)
        self.state, self._sent, self._views = state, sent, views
        self.view = views[None][0] if views else state
        return response

    def _seen(self, state: Any) -> dict[str | None, Any]:
        """Returns the views by the viewers; none if everyone sees the state."""
        by = self._kind.views_by
        viewers = {getattr(viewer, by): viewer for viewer in self._viewers if by} | {None: Viewer()}
        views = {name: self._view(state, viewer) for name, viewer in viewers.items()}
        return {} if views[None] is None else views

    def view_for(self, viewer: Viewer) -> Any:
        """Returns what a viewer receives of the state."""
        view = self._view(self.state, viewer)
        return self.state if view is None else view

    def _view(self, state: Any, viewer: Viewer) -> Any:
        view, by = self._kind.view, self._kind.views_by
        known = Viewer(**{by: getattr(viewer, by)}) if by else Viewer()
        return call(view, state, known, self._configuration) if view else None


_Sent = tuple[Any, int]


def _change(sent: _Sent | None, new: Any, whole: str, patched: str) -> tuple[_Sent, dict[str, Any]]:
    """Returns what the server has after a change, and the member of the update that makes it."""
    if sent is None:
        return (new, len(text(new))), {whole: new}
    old, size = sent
    patch = difference(old, new)
    length = len(text(patch)) if patch else 0
    # The value is measured only after a large change, so that the cost follows the change.
    if length > size // 2:
        size = len(text(new))
    if length > size + _SLACK or (patch and patch[0]["path"] == ""):
        return (new, size), {whole: new}
    return (new, size), {patched: patch} if patch else {}


def _viewer(members: Mapping[str, Any]) -> Viewer:
    return Viewer(members.get("identity"), members.get("frontend"), members.get("role"))


def call(function: Callable[..., Any], *arguments: Any) -> Any:
    """Calls a function with as many of the arguments as it has parameters."""
    return function(*arguments[: _arity(function)])


@functools.lru_cache(maxsize=64)
def _arity(function: Callable[..., Any]) -> int | None:
    """Returns the number of positional parameters; None for any number."""
    kinds = [parameter.kind for parameter in inspect.signature(function).parameters.values()]
    any_number = inspect.Parameter.VAR_POSITIONAL
    return None if any_number in kinds else sum(kind < any_number for kind in kinds)


def _hints(function: Callable[..., Any]) -> list[Any]:
    """Returns the types of the parameters and of the result; None for those without one."""
    try:
        hints = get_type_hints(function, include_extras=True)
        return [hints.get(name) for name in [*inspect.signature(function).parameters, "return"]]
    except (NameError, TypeError):
        return [None]

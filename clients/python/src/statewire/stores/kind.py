# SPDX-License-Identifier: Apache-2.0
"""A store kind, which an author writes, and a store of it, which turns requests into updates."""

import copy
import dataclasses
import functools
from collections.abc import Callable, Mapping
from inspect import Parameter, signature
from typing import Any, Literal, get_type_hints

from .difference import MISSING, difference
from .effects import Effect, given, plain, redacted, text
from .types import Form


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

    - `initial` is a state, which is not None, or a function of the configuration.
    - `update(state, event)` returns the next state for an input or action, or a pair of it and its effects.
      None stands for an unchanged state. A state must not be a tuple of two itself: each such result, also of
      `initial` and `viewers`, is read as a state and its effects.
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

    @functools.cached_property
    def forms(self) -> dict[str, Form]:
        """The forms of the types, by the names in the protocol."""
        state, event, *_ = [*_hints(self.update)[:-1], None, None]
        view_state = _hints(self.view)[-1] if self.view else self.state or state
        values = {"configuration": self.configuration, "state": self.state or state, "viewState": view_state}
        tagged = {"input": self.inputs or event, "action": self.actions or event, "event": self.events}
        return {k: Form(of, k in tagged, k in ("viewState", "event")) for k, of in (values | tagged).items()}

    def description(self) -> dict[str, Any]:
        """Returns the result of `machine/describe`."""
        schemas = {k: f.schema for k, f in self.forms.items() if f.schema and k not in ("state", "action")}
        views = {"watchesViewers": bool(self.viewers or self.views_by), "showsState": not self.view}
        return {"protocol": 1, "version": self.version, "schemas": schemas, "viewsBy": self.views_by, **views}


class Machine:
    """One store, which turns the requests of the protocol into updates."""

    def __init__(self, kind: StoreKind, /, name: str, configuration: Any, **_: Any) -> None:
        """Makes a store that is opened or restored next; other members of the request are ignored."""
        self._kind, self._configuration = kind, kind.forms["configuration"].decode(configuration)
        self._context = functools.partial(Context, name, self._configuration)
        self._viewers: dict[str | None, Viewer] = {None: Viewer()}
        # The views are those that the server has, by the property of a viewer; None stands for everyone.
        self.state, self._views = MISSING, dict[str | None, Any]()

    def turn(self, method: str, params: Mapping[str, Any], maximum_actions: int = 0) -> str:
        """Responds to `machine/METHOD` with an update as JSON text.

        If it raises, nothing has changed, except that the viewers are known. It applies immediate actions
        too, at most `maximum_actions`. Actions from the first one with an id on are effects of the update.
        """
        kind, viewer, now = self._kind, _viewer(params.get("viewer", {})), params.get("now", 0)
        context = self._context(now, viewer, method == "action", params.get("error"))
        if method == "open":
            # No other store may have a part of the state.
            result = copy.deepcopy(call(kind.initial, self._configuration, context))
        elif method == "restore":
            version, state = params["version"], params["state"]
            if version > kind.version or (version < kind.version and not kind.migrate):
                raise ValueError(f"a state of version {version} cannot be used by version {kind.version}")
            form = plain(call(kind.migrate, version, state)) if version < kind.version else state
            new = kind.forms["state"].decode(form)
            steps = {step["op"] for step in difference(form, plain(new))}
            if steps - {"add"}:
                raise TypeError("the type of the state lacks members of the state; increase the version")
            # The server does not have a state that was converted, nor new members of the type with defaults.
            self.state = MISSING if steps or difference(state, form) else new
            # It can have a view of the earlier process, which another one replaces.
            self._views = {None: MISSING} if kind.view else {}
            result = new, ()
        elif method == "viewers":
            shown = [_viewer(members) for members in params["viewers"]]
            self._viewers = {None: Viewer()} | {getattr(v, kind.views_by): v for v in shown if kind.views_by}
            result = call(kind.viewers, self.state, shown, context)
        else:
            result = call(kind.update, self.state, kind.forms[method].decode(params[method]), context)
        state, effects = _parts(result, self.state)
        for _ in range(maximum_actions):
            index = next((i for i, effect in enumerate(effects) if effect.type == "action"), None)
            # An action with an id can be cancelled, so the server sends it, and all after it.
            if index is None or "id" in effects[index].members:
                break
            action = kind.forms["action"].decode(plain(effects[index].members["action"]))
            after, more = _parts(call(kind.update, state, action, self._context(now, is_action=True)), state)
            # The server also sends an action whose effects are too many together with the others.
            if len(more) <= 1_000 < len(effects) + len(more):
                break
            state, effects = after, [*effects[:index], *effects[index + 1 :], *more]
        return self._update(state, effects)

    def _update(self, state: Any, effects: list[Effect]) -> str:
        """Returns the update to a state; then the server has it."""
        views = {name: self.view_of(state, each) for name, each in self._viewers.items()}
        # There are no views before the first that is not the state.
        views = views if self._views or any(view is not state for view in views.values()) else {}
        # A view that there is no more is null in the update.
        changes = {name: self._change(old, views[name], "view", "viewPatch") if name in views else None
                   for name, old in {**dict.fromkeys(views, MISSING), **self._views}.items()}  # fmt: skip
        update = self._change(self.state, state, "state", "patch") | (changes.pop(None, None) or {})
        update |= given(views={name: change for name, change in changes.items() if change != {}} or None)
        events = [each.members for each in effects if each.type == "event"]
        others = [{"type": e.type, **e.members} for e in effects if e.type not in ("event", "redacted")]
        if max(len(events), len(others)) > 1_000:
            raise TypeError("an update has at most 1,000 effects and 1,000 events")
        update |= given(events=events or None, effects=others or None, redacted=redacted() in effects or None)
        response = text(update)
        self.state, self._views = state, views
        return response

    def _change(self, old: Any, new: Any, whole: str, patched: str) -> dict[str, Any]:
        """Returns the member of the update that changes what the server has."""
        if not (patch := difference(old, new)):
            return {}
        # Only a patch of many operations can be much longer than the value. Others show what has changed.
        is_long = len(patch) > 256 and len(text(patch)) > len(text(new))
        return {whole: new} if is_long or patch[0]["path"] == "" else {patched: patch}

    def view_of(self, state: Any, viewer: Viewer) -> Any:
        """Returns what a viewer receives of a state."""
        known = Viewer(**{by: getattr(viewer, by)}) if (by := self._kind.views_by) else Viewer()
        view = call(self._kind.view, state, known, self._configuration)
        return state if view is None else view


def _parts(result: Any, before: Any) -> tuple[Any, list[Effect]]:
    """Returns the state and the effects of a result of `update`, `initial` or `viewers`."""
    state, effects = result if isinstance(result, tuple) and len(result) == 2 else (result, [])
    if state is None and before is MISSING:
        raise TypeError("None is not a state; `initial` and `migrate` must return one")
    return before if state is None else state, [effects] if isinstance(effects, Effect) else list(effects)


def _viewer(members: Mapping[str, Any]) -> Viewer:
    return Viewer(members.get("identity"), members.get("frontend"), members.get("role"))


def call(function: Any, *arguments: Any) -> Any:
    """Calls a function with as many of the arguments as it has parameters; returns another value as it is."""
    return function(*arguments[: _arity(function)]) if callable(function) else function


@functools.lru_cache(maxsize=64)
def _arity(function: Callable[..., Any]) -> int | None:
    """Returns the number of positional parameters; None for any number."""
    # A class is made with its defaults.
    of = [] if isinstance(function, type) else signature(function).parameters.values()
    kinds = [p.kind for p in of if p.kind <= p.VAR_POSITIONAL]
    return None if Parameter.VAR_POSITIONAL in kinds else len(kinds)


def _hints(function: Callable[..., Any]) -> list[Any]:
    """Returns the types of the parameters and of the result; None for those without one."""
    try:
        hints = get_type_hints(function, include_extras=True)
        return [hints.get(name) for name in [*signature(function).parameters, "return"]]
    except (NameError, TypeError):
        return [None]

# SPDX-License-Identifier: Apache-2.0
"""The state of the checker while it reads a history: sessions, stores, inputs and connections."""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import states


class Violation(NamedTuple):
    """A broken guarantee, with the events that prove it."""

    kind: str
    text: str
    events: list[dict[str, Any]]

    def __str__(self):
        lines = [f"{self.kind}: {self.text}"]
        for event in self.events:
            shown = {key: value for key, value in event.items() if key != "place"}
            lines.append(f"    {event.get('place', '-')} {states.canonical(shown)[:400]}")
        return "\n".join(lines)


@dataclass(eq=False)
class Response:
    """A response to an input."""

    event: dict
    result: dict | None
    error: dict | None
    # True if the input had been sent once when this response was sent, so that it is no repeat.
    is_first: bool
    settle: bool


@dataclass(eq=False)
class Input:
    """An input of a frontend, with all attempts to send it."""

    session: str
    frontend: str
    sequence: int
    store: str
    value: dict
    sent: list[dict] = field(default_factory=list)
    responses: list[Response] = field(default_factory=list)

    @property
    def is_accepted(self):
        return any(response.result is not None for response in self.responses)

    @property
    def is_refused(self):
        """True if each response was an error that leaves no trace."""
        return bool(self.responses) and all(
            response.error is not None and response.error["code"] not in UNKNOWN_OUTCOME for response in self.responses)

    @property
    def title(self):
        return self.value.get("title") if self.value["type"] in ("todoAdded", "addTodo") else None


# Errors of an input that may have been applied all the same: cancelled since the server ended.
UNKNOWN_OUTCOME = {-32800}


@dataclass(eq=False)
class Frontend:
    """A name in a session and its inputs by sequence."""

    inputs: dict[int, Input] = field(default_factory=dict)
    # The highest sequence that the server has confirmed, and the event that proves it.
    confirmed: int = 0
    proof: dict | None = None

    def confirm(self, sequence, event):
        if sequence > self.confirmed:
            self.confirmed, self.proof = sequence, event

    def in_order(self, store=None):
        """Returns the inputs that were not refused, by sequence."""
        return [entry for _, entry in sorted(self.inputs.items())
                if not entry.is_refused and store in (None, entry.store)]


@dataclass(eq=False)
class Store:
    """A store of a session, over all clients and the whole time."""

    name: str
    kind: str | None = None
    config: dict = field(default_factory=dict)
    # By revision: the state in compact form, and the first event that showed it.
    seen: dict[int, tuple[Any, dict]] = field(default_factory=dict)
    # The highest revision that any client has received, and the event.
    known: int = -1
    proof: dict | None = None
    # The state that the auditor has read last: revision, state, event.
    final: tuple[int, Any, dict] | None = None

    @property
    def list_name(self):
        """The name of the list in the database that the store shows, or None."""
        return self.written_list if self.kind == "todo" else None

    @property
    def written_list(self):
        """The name of the list in the database that inputs of the store change, or None."""
        if self.kind not in ("todo", "addTodo") or "memory" in self.config:
            return None
        return self.config.get("list", "default")

    def learn(self, revision, event):
        if revision > self.known:
            self.known, self.proof = revision, event


@dataclass(eq=False)
class Session:
    handle: str
    stores: dict[str, Store] = field(default_factory=dict)
    frontends: dict[str, Frontend] = field(default_factory=dict)

    def store(self, name):
        return self.stores.setdefault(name, Store(name))

    def frontend(self, name):
        return self.frontends.setdefault(name, Frontend())

    def inputs(self, store):
        """Returns the inputs of all frontends to a store."""
        return [entry for frontend in self.frontends.values() for entry in frontend.in_order(store)]


@dataclass(eq=False)
class Replica:
    """The state that a client holds of a store."""

    revision: int
    state: Any
    # True after an update that did not apply: nothing is concluded from it until the next whole state.
    has_diverged: bool = False
    # The updates that a replay still has to bring, and the revision it has to reach.
    replays: int = 0
    due: tuple[int, dict | None] = (-1, None)


@dataclass(eq=False)
class Request:
    """A request without a response so far."""

    event: dict
    method: str
    params: dict
    # The revision that was known of each store when the request was sent, with its proof.
    known: dict[str, tuple[int, dict | None]] = field(default_factory=dict)
    entry: Input | None = None
    is_first: bool = True


@dataclass(eq=False)
class Connection:
    session: Session | None = None
    frontend: str | None = None
    open: dict[Any, Request] = field(default_factory=dict)
    replicas: dict[str, Replica] = field(default_factory=dict)
    # True after `session/attach` was refused: nothing is concluded from later responses.
    is_outside: bool = False

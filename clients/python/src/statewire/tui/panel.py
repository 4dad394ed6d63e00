# SPDX-License-Identifier: Apache-2.0
"""Definitions that all panels share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from textual.containers import Vertical
from textual.content import Content

from ..client import Client
from ..errors import OtherConfigurationError, SessionEndedError, StatewireError, StoreClosedError
from ..kinds import I, Kind, V
from ..printing import printable
from ..store import Store

T = TypeVar("T")


async def follow(
    client: Client,
    kind: Kind[I, V],
    name: str | None,
    config: Mapping[str, Any] | None,
    opened: Callable[[Store[I, V]], None],
    show: Callable[[V], None],
) -> None:
    """Subscribes to a store and shows each state until the session ends for this client.

    - Parameters:
      - opened: Is called with the store when it is open, and again in each new session.
      - show: Is called with each state.
    """
    while True:
        try:
            try:
                store = await client.open(kind, name, config)
            except OtherConfigurationError:
                # Another client has opened the store with another configuration. All clients share the store.
                store = await client.open(kind, name)
            session = client.session
            opened(store)
            async for state in store:
                if client.session != session:
                    # The session was lost. The new one has a new store of this name.
                    session = client.session
                    opened(store)
                show(state)
            return
        except StoreClosedError:
            continue
        except SessionEndedError:
            return


def reason(error: StatewireError) -> str:
    """Formats an error for a person."""
    if isinstance(error, SessionEndedError):
        return "The session has ended"
    text = printable(getattr(error, "message", None) or error)
    return text[:1].upper() + text[1:]


def plain(text: object, style: str = "") -> Content:
    """Makes content from untrusted text: control characters are replaced, markup is not interpreted."""
    return Content.styled(printable(text), style)


class Panel(Vertical):
    """A part of the screen with a frame. The colour of the frame shows the keyboard focus."""

    def __init__(self, title: str, key: str, id: str) -> None:
        super().__init__(id=id, classes="panel")
        self._key = key
        # The number of pending inputs.
        self.pending_count = 0
        self.entitle(title)

    def entitle(self, title: str) -> None:
        """Sets the title, which follows the key that focuses the panel."""
        self.border_title = Content.assemble((self._key, "$faint not bold"), " ", plain(title))

    async def follow(self, client: Client) -> None:
        """Subscribes to the stores of this panel and shows them until the session ends."""
        raise NotImplementedError

    def post(
        self, store: Store[I, V] | None, input: I, ended: Callable[[str | None], None], *,
        settle: bool = False, optimistic: Callable[[V], V] | None = None, idempotent: bool = False,
    ) -> str | None:
        """Sends an input without a timeout.

        - Parameters:
          - store: The store; None while none is open.
          - ended: Is called with None when the input is accepted, or with the reason of the refusal.
        - Returns: The reason why the input cannot be sent, or None. With a reason, `ended` is not called.
        """
        if store is None:
            return "Not connected yet"
        try:
            response = store.post(input, settle=settle, optimistic=optimistic, idempotent=idempotent)
        except StatewireError as error:
            return reason(error)
        self.pending_count += 1

        async def wait() -> None:
            problem = None
            try:
                await response
            except StatewireError as error:
                problem = reason(error)
            finally:
                self.pending_count -= 1
            ended(problem)

        self.run_worker(wait(), group="inputs")
        return None

    def unsaved(self) -> list[str]:
        """Lists the texts that would be lost if the program ended now, besides pending inputs."""
        return []

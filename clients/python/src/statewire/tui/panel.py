# SPDX-License-Identifier: Apache-2.0
"""What the parts of the screen have in common."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from textual.containers import Vertical
from textual.content import Content

from ..client import Client
from ..errors import OtherConfiguration, SessionEnded, StatewireError, StoreClosed
from ..kinds import I, Kind, V
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
    """Shows each state of a store, until the session is over for this frontend."""
    while True:
        try:
            try:
                store = await client.open(kind, name, config)
            except OtherConfiguration:
                # Somebody else of the session has opened it, and differently; what counts is that it is
                # the same for all.
                store = await client.open(kind, name)
            opened(store)
            async for state in store:
                show(state)
            return
        except StoreClosed:
            continue
        except SessionEnded:
            return


def reason(error: StatewireError) -> str:
    """What to tell somebody about an error."""
    if isinstance(error, SessionEnded):
        return "The session is over"
    text = getattr(error, "message", None) or str(error)
    return text[:1].upper() + text[1:]


class Panel(Vertical):
    """A part of the screen with a frame, which tells by its colour where the keys go."""

    def __init__(self, title: str, key: str, id: str) -> None:
        super().__init__(id=id, classes="panel")
        self._key = key
        self.entitle(title)

    def entitle(self, title: str) -> None:
        """Gives it a title, behind the key that leads to it."""
        self.border_title = Content.assemble((self._key, "$faint not bold"), " ", title)

    async def follow(self, client: Client) -> None:
        """Shows the stores of this panel as they are and change, until the session is over."""
        raise NotImplementedError

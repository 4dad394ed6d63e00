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
from ..printable import visible
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
    """Shows each state of a store, until the session is over for this frontend.

    - Parameters:
      - opened: Is called with the store once it is open, and again in each new session.
    """
    while True:
        try:
            try:
                store = await client.open(kind, name, config)
            except OtherConfiguration:
                # Somebody else of the session has opened it, and differently; what counts is that it is
                # the same for all.
                store = await client.open(kind, name)
            session = client.session
            opened(store)
            async for state in store:
                if client.session != session:
                    # The session was lost; its store begins again in the new one.
                    session = client.session
                    opened(store)
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
    text = visible(getattr(error, "message", None) or error)
    return text[:1].upper() + text[1:]


def plain(text: object, style: str = "") -> Content:
    """Text from elsewhere, to be shown as it is: nothing in it is a control character or markup."""
    return Content.styled(visible(text), style)


class Panel(Vertical):
    """A part of the screen with a frame, which tells by its colour where the keys go."""

    def __init__(self, title: str, key: str, id: str) -> None:
        super().__init__(id=id, classes="panel")
        self._key = key
        # Inputs of the person that are not answered yet.
        self.unanswered = 0
        self.entitle(title)

    def entitle(self, title: str) -> None:
        """Gives it a title, behind the key that leads to it."""
        self.border_title = Content.assemble((self._key, "$faint not bold"), " ", plain(title))

    async def follow(self, client: Client) -> None:
        """Shows the stores of this panel as they are and change, until the session is over."""
        raise NotImplementedError

    def post(
        self, store: Store[I, V] | None, input: I, ended: Callable[[str | None], None], *,
        settle: bool = False, drawn: Callable[[V], V] | None = None, repeatable: bool = False,
    ) -> str | None:
        """Sends an input. However long that takes, it is not given up.

        - Parameters:
          - store: The store; None where none is open yet.
          - ended: Is called once the input was accepted, or with the reason why it was not.
        - Returns: Why it cannot be sent; `ended` is not called then.
        """
        if store is None:
            return "There is no connection yet"
        try:
            answer = store.post(input, settle=settle, drawn=drawn, repeatable=repeatable)
        except StatewireError as error:
            return reason(error)
        self.unanswered += 1

        async def wait() -> None:
            problem = None
            try:
                await answer
            except StatewireError as error:
                problem = reason(error)
            finally:
                self.unanswered -= 1
            ended(problem)

        self.run_worker(wait(), group="inputs")
        return None

    def unsaved(self) -> list[str]:
        """What a person would lose by leaving now, besides the inputs that are not answered."""
        return []

# SPDX-License-Identifier: Apache-2.0
"""A store of the server, as a frontend sees it."""

from __future__ import annotations

import asyncio
import collections
from collections.abc import AsyncIterable, Callable, Mapping
from typing import TYPE_CHECKING, Any, Generic, cast

from .errors import SessionEnded, StatewireError, StoreClosed, TimedOut
from .inputs import Input, Sent
from .kinds import I, Kind, V
from .news import Happenings, Listener, Newest, News
from .view import Fault, View

if TYPE_CHECKING:
    from .client import Client


class _Drawing(Generic[V]):
    """What is drawn on top of the server's state until the answer to an input is there."""

    __slots__ = ("draw", "entry", "until_settled")

    def __init__(self, draw: Callable[[V], V], until_settled: bool) -> None:
        self.draw, self.until_settled = draw, until_settled
        self.entry: Input | None = None


class Store(AsyncIterable[V], Generic[I, V]):
    """One store: its states, its events, and where its inputs go.

        async for state in store:
            draw(state)

    gives the state that is, at once, and then each time the newest one. Who is slower than the server
    misses what lay between. States are shared: nobody may change them.
    """

    def __init__(
        self, client: Client, kind: Kind[I, V], name: str, config: Mapping[str, Any] | None
    ) -> None:
        self._client = client
        self.kind, self.name, self.config = kind, name, config
        self._view: View | None = None
        self._news = News()
        self._events: Happenings[Any] = Happenings()
        self._drawings: list[_Drawing[V]] = []
        self._drawn: tuple[int, V] | None = None
        # Whether the server is to send what changes, over all connections.
        self.is_subscribed = False
        # Is called with each state of the server's, also those that whoever iterates is too slow for.
        self.on_state: Callable[[V], None] | None = None
        # How often the state was fetched anew, by reason: `gap`, `patch`, `digest`.
        self.resyncs: collections.Counter[Fault] = collections.Counter()

    # Seeing

    @property
    def state(self) -> V:
        """The state to draw: the server's, with what was drawn optimistically on top."""
        if self._drawn is not None and self._drawn[0] == self._news.count:
            return self._drawn[1]
        state = self.confirmed
        for drawing in self._drawings:
            try:
                state = drawing.draw(state)
            except (LookupError, TypeError, ValueError):
                continue  # The state that is has no place for it: somebody else was faster.
        self._drawn = (self._news.count, state)
        return state

    @property
    def confirmed(self) -> V:
        """The state as the server has told it."""
        if self._view is None:
            raise RuntimeError(f"{self.name!r} has no state yet")
        return cast(V, self._view.state)

    @property
    def revision(self) -> int:
        """The revision of `confirmed`."""
        return -1 if self._view is None else self._view.revision

    def __aiter__(self) -> Newest[V]:
        return Newest(self._news, lambda: self.state)

    async def wait_for(self, condition: Callable[[V], bool], timeout: float | None = None) -> V:
        """Waits for a state that meets a condition, and gives it.

        - Raises: `TimedOut`; `SessionEnded` or `StoreClosed` if no state comes any more.
        """

        async def wait() -> V:
            async for state in self:
                if condition(state):
                    return state
            raise SessionEnded("left")

        try:
            return await asyncio.wait_for(wait(), timeout)
        except asyncio.TimeoutError:
            raise TimedOut(f"{self.name}: no such state in {timeout} s") from None

    def events(self) -> Listener[Any]:
        """What happens once and is not state, from now on; of more than 256 the oldest are dropped."""
        return self._events.listen()

    # Sending

    async def send(
        self, input: I, *, settle: bool = False, drawn: Callable[[V], V] | None = None,
        repeatable: bool = False, timeout: float | None = None,
    ) -> Sent:
        """Sends an input and waits for its answer; it is applied exactly once, whatever happens to the
        connection. Whoever gives up has the server cancel what goes on with it.

        - Parameters:
          - input: The input.
          - settle: Whether to wait until all its effects have ended.
          - drawn: What the input will probably make of a state. It is drawn on top of the server's
            states until the answer is there (with `settle`, that to all its effects), or the frame
            with the change. It gives a new state and changes none, and may be asked several times.
          - repeatable: Whether the input may be applied twice, such as one that names its todo by an id.
            Where the session to which it was sent is gone, it is sent to the new one in place of
            `SessionEnded("lost")`.
          - timeout: Seconds to wait; by default as long as the client's `timeout`, or with `settle` for
            ever.
        - Raises: `ServerError` if the input is refused, `LimitMet` also before a frame is sent that the
          server would refuse; `SessionEnded` if whether it was applied is not known; `TimedOut`.
        """
        await self._client.room()
        if timeout is None and not settle:
            timeout = self._client.timeout
        future, entry = self._post(input, settle, drawn, repeatable)
        loop = asyncio.get_running_loop()
        timer = None
        if timeout is not None:
            timer = loop.call_later(timeout, _time_out, future, f"{self.name}: no answer in {timeout} s")
        try:
            return await future
        except (asyncio.CancelledError, TimedOut):
            self._client.give_up(entry)
            self._undraw(entry)
            raise
        finally:
            if timer:
                timer.cancel()

    def post(
        self, input: I, *, settle: bool = False, drawn: Callable[[V], V] | None = None,
        repeatable: bool = False,
    ) -> asyncio.Future[Sent]:
        """Sends an input without waiting: many at once, each with its future.

        - Parameters: As for `send`. A future that is cancelled cancels nothing on the server.
        - Raises: `Busy` if too many wait for their answers already; `await client.room()` before.
          `SessionEnded`. `LimitMet` if the server would refuse the frame; its response may tell that, too.
        """
        return self._post(input, settle, drawn, repeatable)[0]

    def _post(
        self, input: I, settle: bool, draw: Callable[[V], V] | None, is_repeatable: bool
    ) -> tuple[asyncio.Future[Sent], Input]:
        future: asyncio.Future[Sent] = asyncio.get_running_loop().create_future()
        if draw is None:
            return future, self._client.send_input(
                self.name, input, settle, lambda answer: _settle(future, answer), is_repeatable)
        drawn = draw(self.state)  # What is wrong with it is the caller's to hear.
        drawing = _Drawing(draw, settle)

        def answered(answer: Sent | StatewireError) -> None:
            if drawing in self._drawings:
                self._drawings.remove(drawing)
                self._news.tell()
            _settle(future, answer)

        drawing.entry = self._client.send_input(self.name, input, settle, answered, is_repeatable)
        self._drawings.append(drawing)
        self._news.tell()
        self._drawn = self._news.count, drawn
        return future, drawing.entry

    # Being right

    async def check(self) -> bool:
        """Compares the state held with the server's by its digest; fetches it anew if it is another.

        - Returns: Whether it was right.
        """
        before = sum(self.resyncs.values())
        await self._client.compare(self.name)
        while self._view is not None and self._view.is_faulty:
            await self._news.after(self._news.count)
        return sum(self.resyncs.values()) == before

    async def close(self) -> None:
        """Sees nothing more of the store, which goes on for others."""
        await self._client.forget(self)

    # What the client tells

    def held(self, view: View | None) -> None:
        """There is a state: this view's, which may be another one than before."""
        if view is not None:
            self._view = view
        self._has_changed()

    def changed(self, applied: object) -> None:
        """A frame has come; `applied` is the request that it contains, of this connection."""
        if self._drawings and type(applied) is int:
            self._drawings = [
                drawing for drawing in self._drawings
                if drawing.until_settled or drawing.entry is None or drawing.entry.request is None
                or drawing.entry.request > applied
            ]
        self._has_changed()

    def happened(self, event: Any) -> None:
        """An event has come."""
        self._events.tell(event)

    def ended(self, error: StoreClosed | StatewireError | None) -> None:
        """Nothing more comes."""
        self.is_subscribed = False
        self._news.end(error)
        self._events.end()

    def _has_changed(self) -> None:
        if self.on_state is not None and self._view is not None:
            self.on_state(self.confirmed)
        self._news.tell()

    def _undraw(self, entry: Input) -> None:
        kept = [drawing for drawing in self._drawings if drawing.entry is not entry]
        if len(kept) != len(self._drawings):
            self._drawings = kept
            self._news.tell()


def _settle(future: asyncio.Future[Sent], answer: Sent | StatewireError) -> None:
    if future.done():
        return
    if isinstance(answer, StatewireError):
        future.set_exception(answer)
    else:
        future.set_result(answer)


def _time_out(future: asyncio.Future[Sent], text: str) -> None:
    if not future.done():
        future.set_exception(TimedOut(text))

# SPDX-License-Identifier: Apache-2.0
"""A client's subscription to one store."""

from __future__ import annotations

import asyncio
import collections
from collections.abc import AsyncIterable, Callable, Mapping
from typing import TYPE_CHECKING, Any, Generic, cast

from .errors import SessionEndedError, StatewireError, StoreClosedError, TimedOutError
from .inputs import Input, SendResult
from .kinds import I, Kind, V
from .patch import same
from .replica import Divergence, Replica
from .signal import Broadcast, EventStream, LatestValues, Signal

if TYPE_CHECKING:
    from .client import Client


class _OptimisticUpdate(Generic[V]):
    """A change that is applied to the server's state until its input has a result."""

    __slots__ = ("apply", "entry", "until_settled")

    def __init__(self, apply: Callable[[V], V], until_settled: bool) -> None:
        self.apply, self.until_settled = apply, until_settled
        self.entry: Input | None = None


class Store(AsyncIterable[V], Generic[I, V]):
    """A subscription to one store: its states, its events and its inputs.

        async for state in store:
            draw(state)

    The iteration begins with the current state and then yields the latest one after each change. A slow
    consumer skips intermediate states. No state equals the previous one, also after a lost connection. States
    share structure: do not change them.
    """

    def __init__(
        self, client: Client, kind: Kind[I, V], name: str, config: Mapping[str, Any] | None
    ) -> None:
        self._client = client
        self.kind, self.name, self.config = kind, name, config
        self._replica: Replica | None = None
        self._signal = Signal()
        self._events: Broadcast[Any] = Broadcast()
        self._optimistic: list[_OptimisticUpdate[V]] = []
        self._shown: tuple[int, V] | None = None
        # True while the client subscribes to the store on each connection.
        self.is_subscribed = False
        # The number of requests to subscribe without a response.
        self.open_subscriptions = 0
        # Called with each state from the server, including those that a slow iteration skips. The exception
        # handler of the event loop gets its exceptions.
        self.on_state: Callable[[V], None] | None = None
        # The number of times that the whole state was requested, by divergence: `gap`, `patch`, `digest`.
        self.resyncs: collections.Counter[Divergence] = collections.Counter()

    # States

    @property
    def state(self) -> V:
        """The state to draw: the server's state with optimistic updates applied."""
        if self._shown is not None and self._shown[0] == self._signal.count:
            return self._shown[1]
        state = self.confirmed
        for update in self._optimistic:
            try:
                state = update.apply(state)
            except (LookupError, TypeError, ValueError):
                continue  # The server's state has changed so that the update does not apply.
        self._shown = (self._signal.count, state)
        return state

    @property
    def confirmed(self) -> V:
        """The server's state, without optimistic updates."""
        if self._replica is None:
            raise RuntimeError(f"the store {self.name!r} has no state yet; await client.open() first")
        return cast(V, self._replica.state)

    @property
    def revision(self) -> int:
        """The revision of `confirmed`."""
        return -1 if self._replica is None else self._replica.revision

    def __aiter__(self) -> LatestValues[V]:
        # `==` is fast, but takes True for 1.
        return LatestValues(
            self._signal, lambda: self.state, lambda a, b: a is b or (a == b and same(a, b)))

    async def wait_until(self, condition: Callable[[V], bool], timeout: float | None = None) -> V:
        """Waits for a state that meets a condition; returns it.

        - Raises: `TimedOutError`; `SessionEndedError` or `StoreClosedError` if the subscription ends.
        """

        async def wait() -> V:
            async for state in self:
                if condition(state):
                    return state
            raise SessionEndedError("clientClosed")

        try:
            return await asyncio.wait_for(wait(), timeout)
        except asyncio.TimeoutError:
            raise TimedOutError(f"{self.name}: no state met the condition within {timeout} s") from None

    def events(self) -> EventStream[Any]:
        """Iterates over the events of the store from now on. The buffer holds 256; older ones are dropped."""
        return self._events.subscribe()

    # Inputs

    async def send(
        self, input: I, *, settle: bool = False, optimistic: Callable[[V], V] | None = None,
        idempotent: bool = False, timeout: float | None = None, traceparent: str | None = None,
    ) -> SendResult:
        """Sends an input and waits for its send result. The server applies it exactly once, also when the
        connection is lost. Cancellation and timeout cancel the effects of the input on the server.

        - Parameters:
          - input: The input.
          - settle: True to wait until all effects of the input have ended.
          - optimistic: Computes the state that the input will probably lead to. It is applied to the
            server's states until the result (with `settle`) or the update with the change (without)
            arrives. It must return a new state, and may be called several times.
          - idempotent: True if the input may be applied twice, such as one that names its todo by an id.
            If the session was lost, the input is sent to the new session; otherwise it fails with
            `SessionEndedError("lost")`.
          - timeout: Seconds to wait. None uses the client's `timeout`, or no limit with `settle`.
          - traceparent: The caller's span, in the form of W3C Trace Context. The server adds its spans to it.
        - Raises: `RPCError` if the server refuses the input; `LimitError`, also before sending a frame
          that exceeds a limit; `SessionEndedError` if it is unknown whether the input was applied;
          `TimedOutError`.
        """
        await self._client.drain()
        if timeout is None and not settle:
            timeout = self._client.timeout
        future, entry = self._post(input, settle, optimistic, idempotent, traceparent)
        loop = asyncio.get_running_loop()
        timer = None
        if timeout is not None:
            text = f"{self.name}: no response within {timeout} s"
            timer = loop.call_later(timeout, _time_out, future, text)
        try:
            return await future
        except (asyncio.CancelledError, TimedOutError):
            self._client.cancel_input(entry)
            self._drop_update(entry)
            raise
        finally:
            if timer:
                timer.cancel()

    def post(
        self, input: I, *, settle: bool = False, optimistic: Callable[[V], V] | None = None,
        idempotent: bool = False, traceparent: str | None = None,
    ) -> asyncio.Future[SendResult]:
        """Sends an input and returns a future of its send result, without waiting.

        - Parameters: See `send`. Cancelling the future does not cancel the input on the server.
        - Raises: `TooManyPendingError` if `maximum_pending` inputs have no response: await
          `client.drain()` before. `SessionEndedError`. `LimitError` if the frame exceeds a limit that the
          server has reported; otherwise the future fails with it.
        """
        return self._post(input, settle, optimistic, idempotent, traceparent)[0]

    def _post(
        self, input: I, settle: bool, optimistic: Callable[[V], V] | None, is_idempotent: bool,
        traceparent: str | None,
    ) -> tuple[asyncio.Future[SendResult], Input]:
        future: asyncio.Future[SendResult] = asyncio.get_running_loop().create_future()
        if optimistic is None:
            return future, self._client.send_input(
                self.name, input, settle, lambda response: _settle(future, response), is_idempotent,
                traceparent)
        shown = optimistic(self.state)  # An exception reaches the caller.
        update = _OptimisticUpdate(optimistic, settle)

        def on_response(response: SendResult | StatewireError) -> None:
            if update in self._optimistic:
                self._optimistic.remove(update)
                self._signal.notify()
            _settle(future, response)

        update.entry = self._client.send_input(
            self.name, input, settle, on_response, is_idempotent, traceparent)
        self._optimistic.append(update)
        self._signal.notify()
        self._shown = self._signal.count, shown
        return future, update.entry

    # Verification

    async def verify(self) -> bool:
        """Compares the digest of the replica with the server's; requests the whole state if they differ.

        - Returns: True if they were equal.
        """
        before = sum(self.resyncs.values())
        await self._client.compare(self.name)
        while self._replica is not None and self._replica.has_diverged:
            await self._signal.wait(self._signal.count)
        return sum(self.resyncs.values()) == before

    async def unsubscribe(self) -> None:
        """Ends the subscription. The store stays open in the session."""
        await self._client.unsubscribe(self)

    # Called by the client

    def held(self, replica: Replica | None) -> None:
        """Takes a replica, which may be another object than before, and reports its state."""
        if replica is not None:
            self._replica = replica
        self._has_changed()

    def changed(self, applied: object) -> None:
        """Handles an update; `applied` is the last request of this connection that it includes."""
        if self._optimistic and type(applied) is int:
            self._optimistic = [
                update for update in self._optimistic
                if update.until_settled or update.entry is None or update.entry.request is None
                or update.entry.request > applied
            ]
        self._has_changed()

    def happened(self, event: Any) -> None:
        """Handles an event."""
        self._events.send(event)

    def ended(self, error: StoreClosedError | StatewireError | None) -> None:
        """Ends the subscription."""
        self.is_subscribed = False
        self._signal.end(error)
        self._events.end()

    def _has_changed(self) -> None:
        if self.on_state is not None and self._replica is not None:
            try:
                self.on_state(self.confirmed)
            except Exception as error:
                context = {"message": f"on_state of the store {self.name!r} has failed", "exception": error}
                asyncio.get_running_loop().call_exception_handler(context)
        self._signal.notify()

    def _drop_update(self, entry: Input) -> None:
        kept = [update for update in self._optimistic if update.entry is not entry]
        if len(kept) != len(self._optimistic):
            self._optimistic = kept
            self._signal.notify()


def _settle(future: asyncio.Future[SendResult], response: SendResult | StatewireError) -> None:
    if future.done():
        return
    if isinstance(response, StatewireError):
        future.set_exception(response)
    else:
        future.set_result(response)


def _time_out(future: asyncio.Future[SendResult], text: str) -> None:
    if not future.done():
        future.set_exception(TimedOutError(text))

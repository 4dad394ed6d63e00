# SPDX-License-Identifier: Apache-2.0
"""Pending inputs: numbered, sent again after a lost connection, applied exactly once."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from .backoff import Backoff
from .connection import Connection, JSONObject
from .errors import (
    ConnectionLostError,
    LimitError,
    OutOfOrderError,
    SessionEndedError,
    StatewireError,
    TooManyPendingError,
)
from .limits import Limits, request_frame

# Limits that refuse an input temporarily. The server waits for its sequence number.
_TEMPORARY = frozenset({"inputsPerSecond", "openRequests", "outboxBytes"})
# An input that every store refuses. It uses up the sequence number of a cancelled input.
_REFUSED_BY_ALL = {"type": ""}


class SendResult(NamedTuple):
    """The result of an input."""

    # The revision of the store when the response was made. The replica has this revision or a later one.
    revision: int
    # True if the input has changed the view state. False for an input that was sent again although the
    # server had applied it.
    changed: bool


class Input:
    """One input, from `send` until its result."""

    __slots__ = (
        "is_cancelled",
        "is_idempotent",
        "is_refused",
        "on_response",
        "request",
        "sequence",
        "store",
        "traceparent",
        "value",
        "wants_settled",
        "was_sent",
    )

    def __init__(
        self, sequence: int, store: str, value: Mapping[str, Any], wants_settled: bool, is_idempotent: bool,
        on_response: Callable[[SendResult | StatewireError], None], traceparent: str | None,
    ) -> None:
        self.sequence, self.store, self.value, self.wants_settled = sequence, store, value, wants_settled
        self.is_idempotent = is_idempotent
        self.on_response, self.traceparent = on_response, traceparent
        # Its request id on the current connection, or None.
        self.request: int | None = None
        self.was_sent = False
        # True after a temporary refusal, until it is sent again.
        self.is_refused = False
        self.is_cancelled = False

    @property
    def params(self) -> JSONObject:
        """The params of its `store/send`."""
        value = _REFUSED_BY_ALL if self.is_cancelled else self.value
        params: JSONObject = {"store": self.store, "input": value, "sequence": self.sequence}
        if self.wants_settled:
            params["settle"] = True
        if self.traceparent is not None:
            params["traceparent"] = self.traceparent
        return params


class Inputs:
    """The pending inputs of a client, in order."""

    def __init__(self, limit: int, backoff: Backoff) -> None:
        self._limit = limit
        self._backoff = backoff
        self._last = 0
        self._waiting: dict[int, Input] = {}
        self._connection: Connection | None = None
        # The limits reported on the last connection.
        self._limits = Limits()
        self._senders: list[asyncio.Future[None]] = []
        self._refusals = 0
        self._retry: asyncio.TimerHandle | None = None
        self._error: StatewireError | None = None

    @property
    def count(self) -> int:
        return len(self._waiting)

    def add(
        self, store: str, value: Mapping[str, Any], wants_settled: bool,
        on_response: Callable[[SendResult | StatewireError], None], is_idempotent: bool = False,
        traceparent: str | None = None,
    ) -> Input:
        """Sends an input, immediately or after the next connection.

        - Raises: `TooManyPendingError`, `SessionEndedError`; `LimitError` if its frame exceeds a limit;
          `TypeError`, `ValueError` if it is not JSON. It has used no sequence number then.
        """
        if self._error is not None:
            raise self._error
        if len(self._waiting) >= self._limit:
            raise TooManyPendingError(f"{self._limit} inputs are pending; await client.drain() first")
        entry = Input(self._last + 1, store, value, wants_settled, is_idempotent, on_response, traceparent)
        if self._connection is None or self._retry is not None:
            # It is sent later, when an exception would not reach the caller.
            self._limits.check(request_frame(1, "store/send", entry.params))
        if self._connection is not None:
            self._send(entry)
        self._last = entry.sequence
        self._waiting[entry.sequence] = entry
        return entry

    async def drain(self) -> None:
        """Waits until another input is accepted and the send buffer has drained."""
        while self._error is None:
            if len(self._waiting) >= self._limit:
                waiter = asyncio.get_running_loop().create_future()
                self._senders.append(waiter)
                await waiter
                continue
            if self._connection is not None:
                await self._connection.drain()
            if len(self._waiting) < self._limit:
                return

    def cancel(self, entry: Input) -> None:
        """Cancels an input and its effects on the server.

        If it was sent on this connection, the server may wait for its sequence number. So the entry is kept
        until the response, and sent again without its content if necessary.
        """
        if self._waiting.get(entry.sequence) is not entry:
            return
        entry.on_response, entry.is_cancelled = _ignore, True
        if entry.request is not None and self._connection is not None:
            self._connection.cancel(entry.request)
        elif not entry.is_refused:
            self._done(entry)

    def connected(self, connection: Connection, accepted: int | None) -> None:
        """Sends all pending inputs over a new connection. The server applies none of them twice.

        - Parameters:
          - connection: The connection, attached to the session.
          - accepted: The last sequence number that the server has accepted from this frontend.
        """
        self._last = max(self._last, accepted or 0)
        self._connection, self._limits = connection, connection.limits
        self._reset_refusals()
        for entry in list(self._waiting.values()):
            self._send_again(entry)

    def disconnected(self) -> None:
        """Handles the end of the connection."""
        self._connection = None
        self._reset_refusals()
        for entry in list(self._waiting.values()):
            entry.request, entry.is_refused = None, False
            if entry.is_cancelled:
                self._done(entry)

    def session_was_lost(self) -> None:
        """Fails the inputs that were sent to a lost session: it is unknown whether they were applied."""
        for entry in list(self._waiting.values()):
            if entry.was_sent and not entry.is_idempotent:
                self._done(entry)
                entry.on_response(SessionEndedError("lost"))

    def end(self, error: StatewireError) -> None:
        """Fails all pending inputs and accepts no further ones."""
        self._error = error
        self._connection = None
        self._reset_refusals()
        waiting, self._waiting = self._waiting, {}
        for entry in waiting.values():
            entry.on_response(error)
        self._wake_senders()

    def _send(self, entry: Input) -> None:
        assert self._connection is not None
        if self._retry is not None:
            # An earlier input was refused temporarily; the server would refuse this one too.
            entry.is_refused = True
            return
        request = 0

        def on_response(response: JSONObject | StatewireError) -> None:
            self._handle_response(entry, request, response)

        try:
            request = entry.request = self._connection.start("store/send", entry.params, on_response)
        except ConnectionLostError:
            return  # The next connection sends it.
        entry.was_sent = True

    def _send_again(self, entry: Input) -> None:
        """Sends a pending input, or fails it if its frame exceeds a limit of the current server."""
        try:
            self._send(entry)
        except LimitError as error:
            self._done(entry)
            entry.on_response(error)

    def _handle_response(self, entry: Input, request: int, response: JSONObject | StatewireError) -> None:
        if isinstance(response, ConnectionLostError) or self._waiting.get(entry.sequence) is not entry:
            return
        if isinstance(response, OutOfOrderError) or (
            isinstance(response, LimitError) and response.limit in _TEMPORARY
        ):
            # Otherwise it was sent again already.
            if entry.request == request:
                self._refused(entry)
            return
        self._refusals = 0
        self._done(entry)
        if isinstance(response, StatewireError):
            entry.on_response(response)
        else:
            entry.on_response(SendResult(response.get("revision", 0), response.get("changed", False)))

    def _refused(self, refused: Input) -> None:
        """Sends an input again after a delay, before all inputs with higher sequence numbers.

        The server will refuse those that were sent already. If it accepted one with a higher number first, it
        would treat the lower ones as repeated.
        """
        for entry in self._waiting.values():
            if entry.sequence >= refused.sequence:
                entry.request, entry.is_refused = None, True
        if self._retry is None:
            loop = asyncio.get_running_loop()
            self._retry = loop.call_later(self._backoff.delay(self._refusals), self._send_refused)
            self._refusals += 1

    def _send_refused(self) -> None:
        self._retry = None
        # In the order of their sequence numbers.
        for entry in list(self._waiting.values()):
            if entry.is_refused and self._connection is not None:
                entry.is_refused = False
                self._send_again(entry)

    def _reset_refusals(self) -> None:
        self._refusals = 0
        if self._retry is not None:
            self._retry.cancel()
            self._retry = None

    def _done(self, entry: Input) -> None:
        self._waiting.pop(entry.sequence, None)
        self._wake_senders()

    def _wake_senders(self) -> None:
        if self._senders:
            waiting, self._senders = self._senders, []
            for waiter in waiting:
                if not waiter.done():
                    waiter.set_result(None)


def _ignore(response: SendResult | StatewireError) -> None:
    """Ignores the result of a cancelled input."""

# SPDX-License-Identifier: Apache-2.0
"""Inputs on their way: numbered, sent again after a lost connection, applied exactly once."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from .backoff import Backoff
from .connection import Connection, JSONObject
from .errors import Busy, ConnectionLost, LimitMet, OutOfTurn, SessionEnded, StatewireError
from .limits import Limits, request_frame

# Limits that refuse an input for the moment; its number keeps its place until it comes again.
_FOR_THE_MOMENT = frozenset({"inputsPerSecond", "openRequests", "outboxBytes"})
# Refused by every store, so that a number whose input was given up keeps no place.
_NOTHING = {"type": ""}


class Sent(NamedTuple):
    """The answer to an input."""

    # The revision that the store had then; the state held is of this one or a later one.
    revision: int
    # Whether the input has changed what frontends see. False for an input that had to be sent again
    # and had been applied already.
    changed: bool


class Input:
    """One input, from when it is sent until it is answered."""

    __slots__ = ("answered", "is_given_up", "is_refused", "is_repeatable", "request", "sequence", "store",
                 "value", "wants_settled", "was_sent")

    def __init__(
        self, sequence: int, store: str, value: Mapping[str, Any], wants_settled: bool, is_repeatable: bool,
        answered: Callable[[Sent | StatewireError], None],
    ) -> None:
        self.sequence, self.store, self.value, self.wants_settled = sequence, store, value, wants_settled
        self.is_repeatable = is_repeatable
        self.answered = answered
        # The id on the connection that is, if it was sent on that.
        self.request: int | None = None
        self.was_sent = False
        # Whether it was refused for the moment, and waits until it is sent again.
        self.is_refused = False
        self.is_given_up = False

    @property
    def params(self) -> JSONObject:
        """The params of its `store/send`."""
        value = _NOTHING if self.is_given_up else self.value
        params: JSONObject = {"store": self.store, "input": value, "sequence": self.sequence}
        if self.wants_settled:
            params["settle"] = True
        return params


class Inputs:
    """All inputs of a client that are not answered yet, in their order."""

    def __init__(self, limit: int, backoff: Backoff) -> None:
        self._limit = limit
        self._backoff = backoff
        self._last = 0
        self._waiting: dict[int, Input] = {}
        self._connection: Connection | None = None
        # Those of the last connection.
        self._limits = Limits()
        self._room: list[asyncio.Future[None]] = []
        self._refusals = 0
        self._again: asyncio.TimerHandle | None = None
        self._error: StatewireError | None = None

    @property
    def count(self) -> int:
        return len(self._waiting)

    def add(
        self, store: str, value: Mapping[str, Any], wants_settled: bool,
        answered: Callable[[Sent | StatewireError], None], is_repeatable: bool = False,
    ) -> Input:
        """Sends an input, now or as soon as there is a connection.

        - Raises: `Busy`, `SessionEnded`, `LimitMet` where the server would refuse its frame; `TypeError`,
          `ValueError` for what is not JSON. It has taken no number then.
        """
        if self._error is not None:
            raise self._error
        if len(self._waiting) >= self._limit:
            raise Busy(f"{self._limit} inputs wait for their answers")
        entry = Input(self._last + 1, store, value, wants_settled, is_repeatable, answered)
        if self._connection is None or self._again is not None:
            # It is sent later, when nobody is there to be told that it cannot be.
            self._limits.check(request_frame(1, "store/send", entry.params))
        if self._connection is not None:
            self._send(entry)
        self._last = entry.sequence
        self._waiting[entry.sequence] = entry
        return entry

    async def room(self) -> None:
        """Waits until another input may be sent, and the peer takes what is sent."""
        while self._error is None:
            if len(self._waiting) >= self._limit:
                waiter = asyncio.get_running_loop().create_future()
                self._room.append(waiter)
                await waiter
                continue
            if self._connection is not None:
                await self._connection.room()
            if len(self._waiting) < self._limit:
                return

    def give_up(self, entry: Input) -> None:
        """Nobody waits for this one any more. What goes on with it is cancelled.

        On a connection that has seen it, its number may keep a place, in which it has to come again: with
        nothing behind it. So it is remembered until it is answered.
        """
        if self._waiting.get(entry.sequence) is not entry:
            return
        entry.answered, entry.is_given_up = _nobody, True
        if entry.request is not None and self._connection is not None:
            self._connection.cancel(entry.request)
        elif not entry.is_refused:
            self._done(entry)

    def connected(self, connection: Connection, accepted: int | None) -> None:
        """There is a connection; what is not answered is sent again. The server repeats none.

        - Parameters:
          - connection: The connection, attached to the session.
          - accepted: The last number that the server has accepted from this frontend.
        """
        self._last = max(self._last, accepted or 0)
        self._connection, self._limits = connection, connection.limits
        self._forget_refusals()
        for entry in list(self._waiting.values()):
            self._send_again(entry)

    def disconnected(self) -> None:
        """The connection has ended."""
        self._connection = None
        self._forget_refusals()
        for entry in list(self._waiting.values()):
            entry.request, entry.is_refused = None, False
            if entry.is_given_up:
                self._done(entry)

    def session_was_lost(self) -> None:
        """There is another session now: whether it has seen what was sent to the old one is not known."""
        for entry in list(self._waiting.values()):
            if entry.was_sent and not entry.is_repeatable:
                self._done(entry)
                entry.answered(SessionEnded("lost"))

    def end(self, error: StatewireError) -> None:
        """Nothing will be sent any more."""
        self._error = error
        self._connection = None
        self._forget_refusals()
        waiting, self._waiting = self._waiting, {}
        for entry in waiting.values():
            entry.answered(error)
        self._tell_room()

    def _send(self, entry: Input) -> None:
        assert self._connection is not None
        if self._again is not None:
            # One before it was refused for the moment, and would have this one refused as well.
            entry.is_refused = True
            return
        request = 0

        def answered(answer: JSONObject | StatewireError) -> None:
            self._answered(entry, request, answer)

        try:
            request = entry.request = self._connection.start("store/send", entry.params, answered)
        except ConnectionLost:
            return  # It is sent on the next connection.
        entry.was_sent = True

    def _send_again(self, entry: Input) -> None:
        """Sends an input that waits, unless the server that is there now refuses its frame."""
        try:
            self._send(entry)
        except LimitMet as error:
            self._done(entry)
            entry.answered(error)

    def _answered(self, entry: Input, request: int, answer: JSONObject | StatewireError) -> None:
        if isinstance(answer, ConnectionLost) or self._waiting.get(entry.sequence) is not entry:
            return
        if isinstance(answer, OutOfTurn) or (
            isinstance(answer, LimitMet) and answer.limit in _FOR_THE_MOMENT
        ):
            # Otherwise it comes again already.
            if entry.request == request:
                self._refused(entry)
            return
        self._refusals = 0
        self._done(entry)
        if isinstance(answer, StatewireError):
            entry.answered(answer)
        else:
            entry.answered(Sent(answer.get("revision", 0), answer.get("changed", False)))

    def _refused(self, refused: Input) -> None:
        """It comes again after a while, and before all others with higher numbers.

        Those that are on their way will be refused as well. Were one of a higher number accepted before
        they come again, the server would take them for repeated.
        """
        for entry in self._waiting.values():
            if entry.sequence >= refused.sequence:
                entry.request, entry.is_refused = None, True
        if self._again is None:
            loop = asyncio.get_running_loop()
            self._again = loop.call_later(self._backoff.delay(self._refusals), self._send_refused)
            self._refusals += 1

    def _send_refused(self) -> None:
        self._again = None
        # In their order, which is that of their numbers.
        for entry in list(self._waiting.values()):
            if entry.is_refused and self._connection is not None:
                entry.is_refused = False
                self._send_again(entry)

    def _forget_refusals(self) -> None:
        self._refusals = 0
        if self._again is not None:
            self._again.cancel()
            self._again = None

    def _done(self, entry: Input) -> None:
        self._waiting.pop(entry.sequence, None)
        self._tell_room()

    def _tell_room(self) -> None:
        if self._room:
            waiting, self._room = self._room, []
            for waiter in waiting:
                if not waiter.done():
                    waiter.set_result(None)


def _nobody(answer: Sent | StatewireError) -> None:
    """Nobody waits for this answer any more."""

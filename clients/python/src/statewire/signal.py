# SPDX-License-Identifier: Apache-2.0
"""Notification of waiting tasks with bounded memory: the latest value, or the last few events."""

from __future__ import annotations

import asyncio
import collections
from collections.abc import AsyncIterator, Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class Signal:
    """Counts changes and wakes the tasks that wait for one. A slow task misses changes, but not the last one.
    """

    def __init__(self) -> None:
        self.count = 0
        self._waiting: set[asyncio.Future[None]] = set()
        self._error: BaseException | None = None
        self.has_ended = False

    def notify(self) -> None:
        """Counts a change and wakes all waiting tasks."""
        self.count += 1
        if self._waiting:
            waiting, self._waiting = self._waiting, set()
            for waiter in waiting:
                if not waiter.done():
                    waiter.set_result(None)

    def end(self, error: BaseException | None = None) -> None:
        """Ends the signal: no changes follow."""
        if not self.has_ended:
            self.has_ended, self._error = True, error
            self.notify()

    async def wait(self, count: int) -> bool:
        """Waits until the number of changes differs from `count`; returns False if the signal has ended.

        - Raises: The error that has ended the signal.
        """
        while self.count == count and not self.has_ended:
            waiter = asyncio.get_running_loop().create_future()
            self._waiting.add(waiter)
            try:
                await waiter
            finally:
                self._waiting.discard(waiter)
        if self.has_ended and self._error is not None:
            raise self._error
        return not self.has_ended


class LatestValues(AsyncIterator[T], Generic[T]):
    """Iterates over the values of a property: the current one, then the latest one after each change. With
    `is_same`, no value is the same as the previous one.
    """

    def __init__(
        self, signal: Signal, read: Callable[[], T], is_same: Callable[[T, T], bool] = lambda a, b: False
    ) -> None:
        self._signal, self._read, self._is_same = signal, read, is_same
        self._seen = -1
        self._last: list[T] = []

    async def __anext__(self) -> T:
        while await self._signal.wait(self._seen):
            self._seen = self._signal.count
            value = self._read()
            if not any(self._is_same(last, value) for last in self._last):
                self._last = [value]
                return value
        raise StopAsyncIteration


class Broadcast(Generic[T]):
    """Sends events to any number of streams."""

    def __init__(self) -> None:
        self._streams: set[EventStream[T]] = set()
        self.has_ended = False

    def send(self, event: T) -> None:
        for stream in list(self._streams):
            stream.put(event)

    def end(self) -> None:
        self.has_ended = True
        for stream in self._streams:
            stream.signal.end()

    def subscribe(self, limit: int = 256) -> EventStream[T]:
        """Makes a stream of the events from now on. Its buffer holds `limit` events; older ones are dropped.
        """
        stream = EventStream(self, limit)
        if self.has_ended:
            stream.signal.end()
        else:
            self._streams.add(stream)
        return stream

    def unsubscribe(self, stream: EventStream[T]) -> None:
        self._streams.discard(stream)


class EventStream(AsyncIterator[T], Generic[T]):
    """Iterates over events in order. `dropped` counts the events that did not fit into the buffer."""

    def __init__(self, broadcast: Broadcast[T], limit: int) -> None:
        self._broadcast = broadcast
        self._buffer: collections.deque[T] = collections.deque()
        self._limit = limit
        self.signal = Signal()
        self.dropped = 0

    def put(self, event: T) -> None:
        if len(self._buffer) == self._limit:
            self._buffer.popleft()
            self.dropped += 1
        self._buffer.append(event)
        self.signal.notify()

    async def __anext__(self) -> T:
        while not self._buffer:
            if not await self.signal.wait(self.signal.count):
                if self._buffer:
                    break
                raise StopAsyncIteration
        return self._buffer.popleft()

    def close(self) -> None:
        """Ends the stream."""
        self._broadcast.unsubscribe(self)
        self.signal.end()

# SPDX-License-Identifier: Apache-2.0
"""How those who wait are told, without a buffer that grows: the newest, or the last few."""

from __future__ import annotations

import asyncio
import collections
from collections.abc import AsyncIterator, Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class News:
    """Something that changes. Who is slow misses what lay between, never the last."""

    def __init__(self) -> None:
        self.count = 0
        self._waiting: set[asyncio.Future[None]] = set()
        self._error: BaseException | None = None
        self.has_ended = False

    def tell(self) -> None:
        """Something has changed."""
        self.count += 1
        if self._waiting:
            waiting, self._waiting = self._waiting, set()
            for waiter in waiting:
                if not waiter.done():
                    waiter.set_result(None)

    def end(self, error: BaseException | None = None) -> None:
        """Nothing will change any more."""
        if not self.has_ended:
            self.has_ended, self._error = True, error
            self.tell()

    async def after(self, count: int) -> bool:
        """Waits until more has changed than `count` times; false if nothing will any more.

        - Raises: What it has ended with.
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


class Newest(AsyncIterator[T], Generic[T]):
    """Iterates over what something is: at first at once, from then on when it has changed."""

    def __init__(self, news: News, look: Callable[[], T]) -> None:
        self._news, self._look = news, look
        self._seen = -1

    async def __anext__(self) -> T:
        if not await self._news.after(self._seen):
            raise StopAsyncIteration
        self._seen = self._news.count
        return self._look()


class Happenings(Generic[T]):
    """Things that happen once, for any number of listeners."""

    def __init__(self) -> None:
        self._listeners: set[Listener[T]] = set()
        self.has_ended = False

    def tell(self, happening: T) -> None:
        for listener in list(self._listeners):
            listener.hear(happening)

    def end(self) -> None:
        self.has_ended = True
        for listener in self._listeners:
            listener.news.end()

    def listen(self, limit: int = 256) -> Listener[T]:
        """A listener, from now on. Of those that wait for it the oldest are dropped beyond `limit`."""
        listener = Listener(self, limit)
        if self.has_ended:
            listener.news.end()
        else:
            self._listeners.add(listener)
        return listener

    def forget(self, listener: Listener[T]) -> None:
        self._listeners.discard(listener)


class Listener(AsyncIterator[T], Generic[T]):
    """Hears what happens, in its order. `dropped` counts what was lost to its slowness."""

    def __init__(self, happenings: Happenings[T], limit: int) -> None:
        self._happenings = happenings
        self._heard: collections.deque[T] = collections.deque()
        self._limit = limit
        self.news = News()
        self.dropped = 0

    def hear(self, happening: T) -> None:
        if len(self._heard) == self._limit:
            self._heard.popleft()
            self.dropped += 1
        self._heard.append(happening)
        self.news.tell()

    async def __anext__(self) -> T:
        while not self._heard:
            if not await self.news.after(self.news.count):
                if self._heard:
                    break
                raise StopAsyncIteration
        return self._heard.popleft()

    def close(self) -> None:
        """Hears nothing more."""
        self._happenings.forget(self)
        self.news.end()

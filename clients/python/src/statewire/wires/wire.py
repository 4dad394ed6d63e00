# SPDX-License-Identifier: Apache-2.0
"""What wires have in common."""

from __future__ import annotations

import asyncio
from typing import Protocol

# A message may be so long, and no longer: a snapshot of a million todos is about a tenth of it.
MAXIMUM_MESSAGE = 1 << 30


class Receiver(Protocol):
    """Who is told what comes over a wire."""

    def received(self, message: bytes | bytearray | str) -> None:
        """One whole message. An exception ends the wire, and is the reason why."""

    def ended(self, reason: BaseException | None) -> None:
        """Nothing more comes, nor can be sent. Told once."""


class Wire(Protocol):
    """Carries whole messages, in their order."""

    def send(self, message: bytes) -> None:
        """Sends a message, with others of this turn of the loop. Nothing happens after the end."""

    async def room(self) -> None:
        """Waits while more is on its way than the peer takes."""

    def close(self) -> None:
        """Ends it in the right way; the receiver is told when it has ended."""

    def abort(self) -> None:
        """Ends it at once."""


class Outgoing:
    """Gathers what is sent in one turn of the loop into one write, and waits for a slow peer."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._parts: list[bytes] = []
        self._transport: asyncio.WriteTransport | None = None
        self._is_paused = False
        self._waiting: list[asyncio.Future[None]] = []

    def connected(self, transport: asyncio.WriteTransport) -> None:
        self._transport = transport

    def put(self, part: bytes) -> None:
        if self._transport is None:
            return
        if not self._parts:
            self._loop.call_soon(self.flush)
        self._parts.append(part)

    def flush(self) -> None:
        if self._transport is not None and self._parts and not self._transport.is_closing():
            self._transport.write(b"".join(self._parts))
        self._parts.clear()

    def paused(self) -> None:
        self._is_paused = True

    def resumed(self) -> None:
        self._is_paused = False
        for waiter in self._waiting:
            if not waiter.done():
                waiter.set_result(None)
        self._waiting.clear()

    def ended(self) -> None:
        self._transport = None
        self.resumed()

    async def room(self) -> None:
        while self._is_paused:
            waiter = self._loop.create_future()
            self._waiting.append(waiter)
            await waiter


class Lines:
    """Finds the lines in what comes in pieces. Only `\\n` ends a line: JSON may contain U+2028."""

    def __init__(self) -> None:
        self._rest = bytearray()

    def feed(self, data: bytes) -> list[bytes]:
        """The lines that are whole now, without the empty ones.

        - Raises: `ValueError` if one grows too long.
        """
        if self._rest:
            if b"\n" not in data:
                self._rest += data
                if len(self._rest) > MAXIMUM_MESSAGE:
                    raise ValueError("a message is too long")
                return []
            self._rest += data
            data = bytes(self._rest)
        lines = data.split(b"\n")
        self._rest = bytearray(lines.pop())
        return [line for line in lines if line and not line.isspace()]

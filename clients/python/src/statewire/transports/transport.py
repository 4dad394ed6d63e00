# SPDX-License-Identifier: Apache-2.0
"""Definitions that all transports share."""

from __future__ import annotations

import asyncio
from typing import Protocol

# The maximum length of a message, in bytes. A snapshot of a million todos has about a tenth of it.
MAXIMUM_MESSAGE = 1 << 30


class Receiver(Protocol):
    """Callbacks of a transport."""

    def received(self, message: bytes | bytearray | str) -> None:
        """Handles one whole message. An exception closes the transport and becomes its reason."""

    def ended(self, reason: BaseException | None) -> None:
        """Handles the end of the transport. Called once."""


class Transport(Protocol):
    """Carries whole messages in order."""

    def send(self, message: bytes) -> None:
        """Sends a message, in one write with others of this turn of the loop. No-op after the end."""

    async def drain(self) -> None:
        """Waits until the send buffer has drained."""

    def close(self) -> None:
        """Closes the transport gracefully; `Receiver.ended` follows."""

    def abort(self) -> None:
        """Closes the transport immediately."""


class Outgoing:
    """A send buffer with write coalescing: one write per turn of the loop; and back-pressure."""

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

    async def drain(self) -> None:
        while self._is_paused:
            waiter = self._loop.create_future()
            self._waiting.append(waiter)
            await waiter


class Lines:
    """Splits chunks of bytes into lines. Only `\\n` ends a line: JSON may contain U+2028."""

    def __init__(self) -> None:
        self._rest = bytearray()

    def feed(self, data: bytes) -> list[bytes]:
        """Returns the lines that are complete now, without blank ones.

        - Raises: `ValueError` if a line exceeds the maximum length.
        """
        if self._rest:
            if b"\n" not in data:
                self._rest += data
                if len(self._rest) > MAXIMUM_MESSAGE:
                    raise ValueError(f"a message is longer than {MAXIMUM_MESSAGE} bytes")
                return []
            self._rest += data
            data = bytes(self._rest)
        lines = data.split(b"\n")
        self._rest = bytearray(lines.pop())
        return [line for line in lines if line and not line.isspace()]

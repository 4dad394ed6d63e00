# SPDX-License-Identifier: Apache-2.0
"""A server that this program spawns, connected over its standard streams: one message per line."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import cast

from .transport import Lines, Outgoing, Receiver

# Seconds between the end of the server's input and SIGKILL.
PATIENCE = 5.0


async def spawn(command: Sequence[str], receiver: Receiver, log: int | None) -> ProcessTransport:
    """Starts a server with `log` as its standard error; None inherits that of this program."""
    loop = asyncio.get_running_loop()
    _, transport = await loop.subprocess_exec(lambda: ProcessTransport(receiver), *command, stderr=log)
    return transport


class ProcessTransport(asyncio.SubprocessProtocol):
    """Messages as lines over the standard streams of a process. Closing the transport ends the process."""

    def __init__(self, receiver: Receiver) -> None:
        self._receiver = receiver
        self._lines = Lines()
        self._outgoing = Outgoing()
        self._process: asyncio.SubprocessTransport | None = None
        self._reason: BaseException | None = None
        self._killing: asyncio.TimerHandle | None = None

    @property
    def pid(self) -> int | None:
        """The process id."""
        return self._process.get_pid() if self._process else None

    def send(self, message: bytes) -> None:
        self._outgoing.put(message)
        self._outgoing.put(b"\n")

    async def drain(self) -> None:
        await self._outgoing.drain()

    def close(self) -> None:
        process = self._process
        if process is None or self._killing:
            return
        self._outgoing.flush()
        pipe = process.get_pipe_transport(0)
        if pipe is not None:
            pipe.close()
        self._killing = asyncio.get_running_loop().call_later(PATIENCE, self.abort)

    def abort(self) -> None:
        if self._process and self._process.get_returncode() is None:
            self._process.kill()

    # asyncio.SubprocessProtocol

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._process = cast(asyncio.SubprocessTransport, transport)
        pipe = self._process.get_pipe_transport(0)
        self._outgoing.connected(cast(asyncio.WriteTransport, pipe))

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        try:
            for line in self._lines.feed(data):
                self._receiver.received(line)
        except Exception as error:
            self._reason = error
            self.abort()

    def pipe_connection_lost(self, fd: int, error: BaseException | None) -> None:
        # Without one of the two streams the connection is of no use.
        if self._killing is None and fd in (0, 1):
            self._reason = self._reason or error
            self.close()

    def pause_writing(self) -> None:
        self._outgoing.paused()

    def resume_writing(self) -> None:
        self._outgoing.resumed()

    def connection_lost(self, error: BaseException | None) -> None:
        if self._killing:
            self._killing.cancel()
        self._outgoing.ended()
        if self._process:
            self._process.close()
            self._process = None
        self._receiver.ended(self._reason or error)

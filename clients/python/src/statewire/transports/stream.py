# SPDX-License-Identifier: Apache-2.0
"""TCP, TLS and Unix sockets: one message per line."""

from __future__ import annotations

import asyncio
import socket
import ssl
from typing import cast

from .transport import Lines, Outgoing, Receiver


async def open_tcp(host: str, port: int, receiver: Receiver, tls: ssl.SSLContext | None) -> StreamTransport:
    """Connects over TCP, or over TLS if a context is given."""
    loop = asyncio.get_running_loop()
    _, transport = await loop.create_connection(
        lambda: StreamTransport(receiver), host, port, ssl=tls, server_hostname=host if tls else None)
    return transport


async def open_unix(path: str, receiver: Receiver) -> StreamTransport:
    """Connects over a Unix socket."""
    loop = asyncio.get_running_loop()
    _, transport = await loop.create_unix_connection(lambda: StreamTransport(receiver), path)
    return transport


class StreamTransport(asyncio.Protocol):
    """Messages as lines over a byte stream."""

    def __init__(self, receiver: Receiver) -> None:
        self._receiver = receiver
        self._lines = Lines()
        self._outgoing = Outgoing()
        self._transport: asyncio.Transport | None = None
        self._reason: BaseException | None = None

    def send(self, message: bytes) -> None:
        self._outgoing.put(message)
        self._outgoing.put(b"\n")

    async def drain(self) -> None:
        await self._outgoing.drain()

    def close(self) -> None:
        self._outgoing.flush()
        if self._transport:
            self._transport.close()

    def abort(self) -> None:
        if self._transport:
            self._transport.abort()

    # asyncio.Protocol

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._outgoing.connected(self._transport)
        tcp_socket = transport.get_extra_info("socket")
        if tcp_socket is not None and tcp_socket.family in (socket.AF_INET, socket.AF_INET6):
            tcp_socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def data_received(self, data: bytes) -> None:
        try:
            for line in self._lines.feed(data):
                self._receiver.received(line)
        except Exception as error:
            self._reason = error
            self.abort()

    def eof_received(self) -> bool:
        return False

    def pause_writing(self) -> None:
        self._outgoing.paused()

    def resume_writing(self) -> None:
        self._outgoing.resumed()

    def connection_lost(self, error: BaseException | None) -> None:
        self._outgoing.ended()
        self._receiver.ended(self._reason or error)

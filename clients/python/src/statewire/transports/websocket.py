# SPDX-License-Identifier: Apache-2.0
"""WebSocket client (RFC 6455) without extensions: one message per text message."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import os
import socket
import ssl
import urllib.parse
from typing import cast

from ..printing import printable
from .transport import MAXIMUM_MESSAGE, Outgoing, Receiver

_TEXT, _BINARY, _CLOSE, _PING, _PONG = 0x1, 0x2, 0x8, 0x9, 0xA
_MAXIMUM_HEAD = 16_384
# Seconds to wait for the close frame of the server.
PATIENCE = 5.0


class WebSocketError(ConnectionError):
    """The server has refused the WebSocket, violated RFC 6455, or closed it with a code."""

    def __init__(self, message: str, code: int = 1002) -> None:
        super().__init__(printable(message))
        self.code = code


async def open_websocket(
    url: urllib.parse.SplitResult, receiver: Receiver, tls: ssl.SSLContext | None
) -> WebSocketTransport:
    """Connects and performs the handshake.

    - Raises: `WebSocketError` if the handshake fails.
    """
    loop = asyncio.get_running_loop()
    host = url.hostname or ""
    _, transport = await loop.create_connection(
        lambda: WebSocketTransport(url, receiver),
        host,
        url.port or (443 if tls else 80),
        ssl=tls,
        server_hostname=host if tls else None,
    )
    try:
        await transport.opened
    except BaseException:
        transport.abort()
        raise
    return transport


class WebSocketTransport(asyncio.Protocol):
    """Messages as text messages of a WebSocket."""

    def __init__(self, url: urllib.parse.SplitResult, receiver: Receiver) -> None:
        self._url = url
        self._receiver = receiver
        self._outgoing = Outgoing()
        self._transport: asyncio.Transport | None = None
        self._key = base64.b64encode(os.urandom(16)).decode()
        self._buffer = bytearray()
        self._message: bytearray | None = None
        self._reason: BaseException | None = None
        self._closing: asyncio.TimerHandle | None = None
        self._was_opened = False
        # Completes with the handshake.
        self.opened: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def send(self, message: bytes) -> None:
        if self._closing is None:
            self._frame(_TEXT, message)

    async def drain(self) -> None:
        await self._outgoing.drain()

    def close(self) -> None:
        self._close(1000)

    def abort(self) -> None:
        if self._transport:
            self._transport.abort()

    def _close(self, code: int) -> None:
        if self._transport is None or self._closing:
            return
        if not self._was_opened:
            self._transport.abort()
            return
        self._frame(_CLOSE, code.to_bytes(2, "big"))
        self._outgoing.flush()
        self._closing = asyncio.get_running_loop().call_later(PATIENCE, self.abort)

    # asyncio.Protocol

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._outgoing.connected(self._transport)
        tcp_socket = transport.get_extra_info("socket")
        if tcp_socket is not None and tcp_socket.family in (socket.AF_INET, socket.AF_INET6):
            tcp_socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        path = (self._url.path or "/") + (f"?{self._url.query}" if self._url.query else "")
        host = self._url.netloc.rpartition("@")[2]
        self._outgoing.put(
            f"GET {path} HTTP/1.1\r\nHost: {host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Key: {self._key}\r\nSec-WebSocket-Version: 13\r\n\r\n".encode("latin-1"))

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        try:
            if not self._was_opened and not self._read_head():
                return
            while self._read_frame():
                pass
        except WebSocketError as error:
            self._fail(error, error.code)
        except Exception as error:
            self._fail(error, 1011)

    def _fail(self, error: BaseException, code: int) -> None:
        self._reason = self._reason or error
        if not self.opened.done():
            self.opened.set_exception(error)
        self._close(code)
        # Further data is ignored. The server has PATIENCE seconds to read the code.
        self._buffer.clear()
        if self._transport:
            self._transport.close()

    def eof_received(self) -> bool:
        return False

    def pause_writing(self) -> None:
        self._outgoing.paused()

    def resume_writing(self) -> None:
        self._outgoing.resumed()

    def connection_lost(self, error: BaseException | None) -> None:
        if self._closing:
            self._closing.cancel()
        self._outgoing.ended()
        self._transport = None
        if not self.opened.done():
            self.opened.set_exception(error or WebSocketError("the connection ended during the handshake"))
        elif self._was_opened:
            self._receiver.ended(self._reason or error)

    # The handshake (RFC 6455 §4.1)

    def _read_head(self) -> bool:
        end = self._buffer.find(b"\r\n\r\n")
        if end < 0:
            if len(self._buffer) > _MAXIMUM_HEAD:
                raise WebSocketError(f"the response to the handshake is longer than {_MAXIMUM_HEAD} bytes")
            return False
        lines = self._buffer[:end].decode("latin-1").split("\r\n")
        del self._buffer[: end + 4]
        status = lines[0].split(" ", 2)
        if len(status) < 2 or not status[0].startswith("HTTP/1.1") or status[1] != "101":
            raise WebSocketError(f"the server refuses a WebSocket at this address: {lines[0]}")
        headers: dict[str, str] = {}
        for line in lines[1:]:
            name, _, value = line.partition(":")
            headers[name.strip().lower()] = value.strip()
        expected = base64.b64encode(
            hashlib.sha1(f"{self._key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11".encode()).digest()).decode()
        if (
            headers.get("upgrade", "").lower() != "websocket"
            or "upgrade" not in [part.strip() for part in headers.get("connection", "").lower().split(",")]
            or headers.get("sec-websocket-accept") != expected
            or "sec-websocket-extensions" in headers
            or "sec-websocket-protocol" in headers
        ):
            raise WebSocketError("the response to the handshake is invalid")
        self._was_opened = True
        self.opened.set_result(None)
        return True

    # Frames (RFC 6455 §5)

    def _frame(self, opcode: int, payload: bytes) -> None:
        length = len(payload)
        if length < 126:
            head = bytes((0x80 | opcode, 0x80 | length))
        elif length < 1 << 16:
            head = bytes((0x80 | opcode, 0x80 | 126)) + length.to_bytes(2, "big")
        else:
            head = bytes((0x80 | opcode, 0x80 | 127)) + length.to_bytes(8, "big")
        mask = os.urandom(4)
        self._outgoing.put(head + mask + _masked(payload, mask))

    def _read_frame(self) -> bool:
        """Handles one frame of the buffer, if it is complete."""
        buffer = self._buffer
        if len(buffer) < 2:
            return False
        first, second = buffer[0], buffer[1]
        is_final, opcode = first & 0x80, first & 0x0F
        if first & 0x70:
            raise WebSocketError("a frame uses an extension")
        if second & 0x80:
            raise WebSocketError("a frame of the server is masked")
        length, start = second & 0x7F, 2
        if opcode >= _CLOSE and (length > 125 or not is_final):
            raise WebSocketError("a control frame is too long or fragmented")
        if length >= 126:
            start = 4 if length == 126 else 10
            if len(buffer) < start:
                return False
            length = int.from_bytes(buffer[2:start], "big")
        if length + len(self._message or b"") > MAXIMUM_MESSAGE:
            raise WebSocketError(f"a message is longer than {MAXIMUM_MESSAGE} bytes", 1009)
        if len(buffer) < start + length:
            return False
        payload = bytes(buffer[start : start + length])
        del buffer[: start + length]
        if opcode >= _CLOSE:
            self._control(opcode, payload)
        else:
            self._data(opcode, payload, bool(is_final))
        return bool(self._buffer)

    def _data(self, opcode: int, payload: bytes, is_final: bool) -> None:
        if opcode == _TEXT:
            if self._message is not None:
                raise WebSocketError("a message begins before the previous one has ended")
            if is_final:
                self._received(payload)
                return
            self._message = bytearray(payload)
        elif opcode == 0:
            if self._message is None:
                raise WebSocketError("a continuation frame without a message")
            self._message += payload
            if is_final:
                message, self._message = self._message, None
                self._received(message)
        elif opcode == _BINARY:
            raise WebSocketError("a message is binary", 1003)
        else:
            raise WebSocketError("a frame has an unknown opcode")

    def _received(self, message: bytes | bytearray) -> None:
        if self._closing:
            return
        try:
            text = message.decode()
        except UnicodeDecodeError:
            raise WebSocketError("a message is not UTF-8", 1007) from None
        self._receiver.received(text)

    def _control(self, opcode: int, payload: bytes) -> None:
        if opcode == _PING and self._closing is None:
            self._frame(_PONG, payload)
        elif opcode == _CLOSE:
            code = int.from_bytes(payload[:2], "big") if len(payload) >= 2 else 1005
            if code != 1000 and self._closing is None:
                text = payload[2:].decode(errors="replace")
                text = f"the server has closed the WebSocket: {code} {text}".strip()
                self._reason = WebSocketError(text, code)
            self._close(code if len(payload) >= 2 else 1000)
            self._buffer.clear()
            if self._transport:
                self._transport.close()
        elif opcode not in (_PING, _PONG):
            raise WebSocketError("a frame has an unknown opcode")


def _masked(payload: bytes, mask: bytes) -> bytes:
    """XORs the payload with the mask (RFC 6455 §5.3), as one large integer for speed."""
    length = len(payload)
    repeated = (mask * (length // 4 + 1))[:length]
    return (int.from_bytes(payload, "big") ^ int.from_bytes(repeated, "big")).to_bytes(length, "big")

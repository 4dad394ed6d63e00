# SPDX-License-Identifier: Apache-2.0
"""Connections of the raw clients: lines, Content-Length headers and WebSocket, on plain sockets."""

import base64
import os
import select
import socket
import struct
import time


class Ended(Exception):
    """The connection has ended, or nothing came in time."""


def connect(framing, address, timeout):
    """Connects; `framing` is lines, headers or websocket, `address` is (host, port)."""
    try:
        return {"lines": Lines, "headers": Headers, "websocket": WebSocket}[framing](address, timeout)
    except OSError as error:
        raise Ended(f"cannot connect: {error}") from None


class Wire:
    """A socket that carries texts."""

    def __init__(self, address, timeout):
        self.socket = socket.create_connection(address, timeout)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.buffer = b""

    def send(self, text):
        self.write(self.framed(text.encode()))

    def write(self, data):
        try:
            self.socket.sendall(data)
        except OSError as error:
            raise Ended(f"cannot send: {error}") from None

    def receive(self, seconds):
        """Returns the texts that arrive within some time: an empty list if there is none."""
        if not select.select([self.socket], [], [], max(0, seconds))[0]:
            return []
        try:
            data = self.socket.recv(1 << 16)
        except OSError as error:
            raise Ended(f"cannot receive: {error}") from None
        if not data:
            raise Ended("the server has closed the connection")
        self.buffer += data
        return list(self.texts())

    def close(self, abruptly=False):
        if abruptly:
            # A reset: what the server has sent and this client has not read is lost.
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.socket.close()


class Lines(Wire):
    def framed(self, data):
        return data + b"\n"

    def texts(self):
        *lines, self.buffer = self.buffer.split(b"\n")
        return [line.decode() for line in lines]


class Headers(Wire):
    def framed(self, data):
        return b"Content-Length: %d\r\n\r\n%b" % (len(data), data)

    def texts(self):
        while (end := self.buffer.find(b"\r\n\r\n")) >= 0:
            start = end + 4
            size = int(self.buffer[:end].removeprefix(b"Content-Length: "))
            if len(self.buffer) < start + size:
                return
            text = self.buffer[start:start + size].decode()
            self.buffer = self.buffer[start + size:]
            yield text


class WebSocket(Wire):
    """RFC 6455: masked text frames to the server; its messages, pings and close frames."""

    def __init__(self, address, timeout):
        super().__init__(address, timeout)
        key = base64.b64encode(os.urandom(16)).decode()
        self.write(f"GET / HTTP/1.1\r\nHost: {address[0]}:{address[1]}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                   f"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {key}\r\n\r\n".encode())
        deadline = time.monotonic() + timeout
        while (end := self.buffer.find(b"\r\n\r\n")) < 0:
            self.socket.settimeout(max(0.01, deadline - time.monotonic()))
            data = self.socket.recv(1 << 16)
            if not data:
                raise Ended("the connection ended in the handshake")
            self.buffer += data
        self.socket.settimeout(None)
        if not self.buffer.startswith(b"HTTP/1.1 101"):
            raise Ended(self.buffer[:80].decode("latin-1"))
        self.buffer = self.buffer[end + 4:]
        self.message = b""

    def framed(self, data, opcode=1):
        size = len(data)
        length = (struct.pack(">B", 0x80 | size) if size < 126 else struct.pack(">BH", 0xFE, size) if size < 1 << 16
                  else struct.pack(">BQ", 0xFF, size))
        mask = os.urandom(4)
        masked = bytes(byte ^ mask[at % 4] for at, byte in enumerate(data))
        return bytes([0x80 | opcode]) + length + mask + masked

    def texts(self):
        while (frame := self.frame()) is not None:
            is_last, opcode, data = frame
            if opcode == 9:
                self.write(self.framed(data, opcode=10))
            elif opcode == 8:
                raise Ended(f"close {int.from_bytes(data[:2], 'big')}")
            elif opcode in (0, 1, 2):
                self.message += data
                if is_last:
                    yield self.message.decode()
                    self.message = b""

    def frame(self):
        """Takes a frame from the buffer: whether it is the last of its message, opcode, data."""
        if len(self.buffer) < 2:
            return None
        size, start = self.buffer[1] & 0x7F, 2
        if size >= 126:
            start = 4 if size == 126 else 10
            if len(self.buffer) < start:
                return None
            size = int.from_bytes(self.buffer[2:start], "big")
        if len(self.buffer) < start + size:
            return None
        first, data = self.buffer[0], self.buffer[start:start + size]
        self.buffer = self.buffer[start + size:]
        return bool(first & 0x80), first & 0x0F, data

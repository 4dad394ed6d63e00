# SPDX-License-Identifier: Apache-2.0
"""A connection for attacks; it shares no code with the clients of the project."""

import contextlib
import json
import select
import socket
import time

MIB = 1 << 20
WAIT = 60


class Ended(Exception):
    """The server has closed the connection, or accepts none."""


class Silent(Exception):
    """A response did not arrive in time."""


class Refused(Exception):
    """A request that the attack depends on got an error response."""


DISCONNECTED = (Ended, Silent, OSError)
NOT_SERVED = (*DISCONNECTED, Refused)


def request(method, **params):
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    return json.dumps(message, separators=(",", ":")).encode() + b"\n"


def batch(one, count):
    return b"[" + b",".join([one.rstrip()] * count) + b"]\n"


def code(response):
    """Returns the code of the error, or None."""
    return (response.get("error") or {}).get("code")


def refusal(response):
    """Returns "result", or the code and the limit of the error."""
    if "error" not in response:
        return "result"
    error = response["error"]
    limit = (error.get("data") or {}).get("limit")
    return str(error["code"]) + (f" {limit}" if limit else "")


class Wire:
    """One connection that sends and reads at the same time; a large response is counted, not parsed."""

    def __init__(self, port, token=None, source=None):
        try:
            self.socket = socket.create_connection(
                ("127.0.0.1", port), timeout=10, source_address=(source, 0) if source else None)
        except OSError as error:
            raise Ended(f"cannot connect: {error}") from error
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket.setblocking(False)
        self.buffer, self.searched = bytearray(), 0
        self.received = self.sent = self.largest_update = 0
        self.last = b""
        if token:
            self.result("initialize", token=token)

    def run(self, data=b"", responses=1, wait=WAIT):
        """Sends the data and reads until this number of responses has arrived; returns them."""
        rest, found, deadline = memoryview(data), [], time.monotonic() + wait
        while len(found) < responses or rest:
            rest = self.step(rest, found, deadline - time.monotonic())
        return found

    def read_for(self, seconds):
        """Reads frames for this number of seconds."""
        deadline, found = time.monotonic() + seconds, []
        while (left := deadline - time.monotonic()) > 0:
            with contextlib.suppress(Silent):
                self.step(memoryview(b""), found, left)
        return found

    def offer(self, data, seconds):
        """Sends without reading for at most this number of seconds; returns the number of sent bytes."""
        rest, deadline = memoryview(data), time.monotonic() + seconds
        while rest and (left := deadline - time.monotonic()) > 0:
            if select.select([], [self.socket], [], left)[1]:
                try:
                    count = self.socket.send(rest)
                except OSError:
                    break
                rest = rest[count:]
        self.sent += len(data) - len(rest)
        return len(data) - len(rest)

    def call(self, method, wait=WAIT, **params):
        return self.run(request(method, **params), 1, wait)[-1]

    def result(self, method, **params):
        """Sends a request that must succeed; returns its result."""
        response = self.call(method, **params)
        if "error" in response:
            raise Refused(f"{method}: {refusal(response)}")
        return response["result"]

    def step(self, rest, found, wait):
        poll = select.poll()
        poll.register(self.socket, select.POLLIN | (select.POLLOUT if rest else 0))
        events = poll.poll(max(wait, 0) * 1000)
        if not events:
            raise Silent("no response in time")
        try:
            if events[0][1] & ~select.POLLOUT:
                chunk = self.socket.recv(MIB)
                if not chunk:
                    raise Ended("closed")
                self.take(chunk, found)
            if rest and events[0][1] & select.POLLOUT:
                count = self.socket.send(rest[:MIB])
                self.sent += count
                rest = rest[count:]
        except BlockingIOError:
            pass
        except OSError as error:
            raise Ended(str(error)) from error
        return rest

    def take(self, chunk, found):
        self.received += len(chunk)
        self.buffer += chunk
        while (end := self.buffer.find(b"\n", self.searched)) >= 0:
            if self.buffer.startswith(b'{"jsonrpc":"2.0","method"'):
                self.largest_update = max(self.largest_update, end)
            else:
                self.last = bytes(self.buffer[:end])
                found.append(json.loads(self.last) if end < 4096 and self.last[:1] == b"{"
                             else {"result": None, "bytes": end})
                if found[-1].get("id", 1) is None and "connections" in refusal(found[-1]):
                    raise Ended(refusal(found[-1]))
            del self.buffer[:end + 1]
            self.searched = 0
        self.searched = len(self.buffer)

    def close(self):
        self.socket.close()

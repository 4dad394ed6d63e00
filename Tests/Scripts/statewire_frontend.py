# SPDX-License-Identifier: Apache-2.0
"""A strict frontend that maintains the states of its stores from updates.

It shares no code with the server: JSON Patch (RFC 6902), the digest and both framings are implemented
from PROTOCOL.md.
"""

import json
import select
import socket
import time
import zlib

from statewire_server import check

LINES, HEADERS = "lines", "headers"


class Ended(Exception):
    """The connection has ended."""


class Refused(Exception):
    """An error response."""

    def __init__(self, method, error):
        super().__init__(f"{method}: {error}")
        self.code = error["code"]


class Kept:
    """The state of one store, maintained from updates."""

    def __init__(self, revision, state):
        self.revision, self.state = revision, state
        self.updates = self.coalesced = 0

    def take(self, params):
        base, revision = params["base"], params["revision"]
        check(base == self.revision, f"an update has the base {base}; the last revision is {self.revision}")
        check(revision > base, f"an update leads from {base} to {revision}")
        check(("patch" in params) != ("state" in params), f"invalid update: {params}")
        if "patch" in params:
            self.state = patched(self.state, params["patch"])
        else:
            self.state = params["state"]
        self.revision = revision
        self.updates += 1
        self.coalesced += revision > base + 1

    def compare(self, response, who):
        """Compares the state with the response to store/state; all updates precede the response."""
        check(self.revision == response["revision"],
              f"{who} has revision {self.revision}, the server {response['revision']}")
        own = digest(self.state)
        check(own == response["digest"], f"{who} has the digest {own} at revision {self.revision}, the server "
              f"{response['digest']}\nclient: {text(self.state)}\nserver: {text(response['state'])}")


class Frontend:
    """One connection, used by one thread."""

    def __init__(self, port, framing=LINES, receive_buffer=None, host="127.0.0.1"):
        self.socket = socket.socket()
        if receive_buffer:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.socket.settimeout(60)
        self.socket.connect((host, port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.framing, self.buffer, self.last_id = framing, bytearray(), 0
        self.received = 0
        self.kept, self.events, self.others = {}, [], []

    # Sending.

    def framed(self, method, params, number=None):
        request = {"jsonrpc": "2.0", "method": method, "params": params}
        if number is not None:
            request["id"] = number
        data = json.dumps(request).encode()
        if self.framing == LINES:
            return data + b"\n"
        return b"Content-Length: %d\r\n\r\n" % len(data) + data

    def write(self, data):
        try:
            self.socket.sendall(data)
        except TimeoutError:
            check(False, "the server reads nothing for a minute")
        except OSError as error:
            raise Ended from error

    def send(self, method, **params):
        """Sends a request; returns its id."""
        self.last_id += 1
        self.write(self.framed(method, params, self.last_id))
        return self.last_id

    # Receiving.

    def is_readable(self, wait=0):
        return bool(select.select([self.socket], [], [], wait)[0])

    def next_frame(self):
        """Removes and returns the first complete frame, or returns None."""
        if self.framing == LINES:
            end = self.buffer.find(b"\n")
            if end < 0:
                return None
            begin, size, end = 0, end, end + 1
        else:
            begin = self.buffer.find(b"\r\n\r\n") + 4
            if begin < 4:
                return None
            check(self.buffer.startswith(b"Content-Length: "),
                  f"a frame starts with {bytes(self.buffer[:40])}")
            size = int(self.buffer[16:begin - 4])
            end = begin + size
            if len(self.buffer) < end:
                return None
        frame = json.loads(self.buffer[begin:begin + size])
        del self.buffer[:end]
        return frame

    def receive(self, wait=60):
        """Returns the next frame."""
        deadline = time.monotonic() + wait
        while (frame := self.next_frame()) is None:
            self.socket.settimeout(max(deadline - time.monotonic(), 0.001))
            try:
                data = self.socket.recv(1 << 18)
            except TimeoutError:
                check(False, f"no frame for {wait} seconds")
            except OSError as error:
                raise Ended from error
            if not data:
                raise Ended
            self.received += len(data)
            self.buffer += data
        return frame

    def take(self, frame):
        """Applies a notification; returns True if the frame is a response."""
        method, params = frame.get("method"), frame.get("params")
        if method == "store/changed":
            check(params["store"] in self.kept, f"an update without a subscription to {params['store']}")
            self.kept[params["store"]].take(params)
        elif method == "store/event":
            self.events.append((params["store"], params["event"]))
        elif method is not None:
            self.others.append(frame)
        return method is None

    def response(self, number, wait=60):
        """Returns the response to the request with this id; applies earlier notifications."""
        deadline = time.monotonic() + wait
        while True:
            frame = self.receive(max(deadline - time.monotonic(), 0.001))
            if self.take(frame) and frame["id"] == number:
                return frame

    def call(self, method, wait=60, **params):
        """Sends a request; returns its result."""
        frame = self.response(self.send(method, **params), wait)
        if "error" in frame:
            raise Refused(method, frame["error"])
        return frame["result"]

    # Stores and sessions.

    def subscribe(self, store, format="patch"):
        # Updates may follow the response immediately, so the state is set before the next frame is read.
        response = self.call("store/subscribe", store=store, format=format)
        self.kept[store] = Kept(response["revision"], response["state"])

    def attached(self, stores):
        """Applies the `stores` of a response to session/attach; returns the reason for each."""
        reasons = {}
        for store, how in stores.items():
            if "snapshot" in how:
                snapshot = how["snapshot"]
                self.kept[store] = Kept(snapshot["revision"], snapshot["state"])
                reasons[store] = how["reason"]
            else:
                check("replayed" in how, f"{store} is {how}")
                reasons[store] = "replayed"
        return reasons

    def attach(self, session, **params):
        return self.attached(self.call("session/attach", session=session, **params)["stores"])

    def compare(self, store, who="a frontend"):
        """Checks that the state equals that of the server; returns the state."""
        response = self.call("store/state", store=store)
        self.kept[store].compare(response, f"{who}'s {store}")
        return response["state"]

    def close(self):
        self.socket.close()


# JSON.


def text(state):
    """Returns the RFC 8785 form, for the values of the built-in stores: keys in ASCII, integers."""
    return json.dumps(state, sort_keys=True, ensure_ascii=False, separators=(",", ":"),
                      default=None)


def digest(state):
    return zlib.crc32(text(state).encode())


def patched(document, patch):
    """Applies the operations and returns the document; may modify the argument."""
    for operation in patch:
        kind, path = operation["op"], pointer(operation["path"])
        if kind == "test":
            check(same(found(document, path), operation["value"]), f"{operation} fails")
        elif kind == "remove":
            document = removed(document, path)
        elif kind == "replace":
            document = replaced(document, path, operation["value"])
        elif kind == "add":
            document = added(document, path, operation["value"])
        elif kind == "move":
            value = found(document, pointer(operation["from"]))
            document = added(removed(document, pointer(operation["from"])), path, value)
        elif kind == "copy":
            value = json.loads(json.dumps(found(document, pointer(operation["from"]))))
            document = added(document, path, value)
        else:
            check(False, f"{operation} is not an operation")
    return document


def same(one, other):
    return text(one) == text(other)


def pointer(path):
    check(path == "" or path.startswith("/"), f"{path} is not a JSON Pointer")
    return [key.replace("~1", "/").replace("~0", "~") for key in path.split("/")[1:]]


def position(key, count):
    check(key.isascii() and key.isdigit() and (key == "0" or key[0] != "0") and int(key) < count,
          f"{key} is not an index below {count}")
    return int(key)


def found(document, path):
    for key in path:
        if isinstance(document, list):
            document = document[position(key, len(document))]
        else:
            check(isinstance(document, dict) and key in document, f"the member {key} does not exist")
            document = document[key]
    return document


def replaced(document, path, value):
    if not path:
        return value
    parent = found(document, path[:-1])
    found(parent, path[-1:])
    parent[position(path[-1], len(parent)) if isinstance(parent, list) else path[-1]] = value
    return document


def removed(document, path):
    if not path:
        return None
    parent = found(document, path[:-1])
    found(parent, path[-1:])
    del parent[position(path[-1], len(parent)) if isinstance(parent, list) else path[-1]]
    return document


def added(document, path, value):
    if not path:
        return value
    parent = found(document, path[:-1])
    if isinstance(parent, list):
        last = len(parent)
        parent.insert(last if path[-1] == "-" else position(path[-1], last + 1), value)
    else:
        check(isinstance(parent, dict), f"cannot add at {path}")
        parent[path[-1]] = value
    return document

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The server in Python: asyncio, patches written by hand. Usage: server.py PORT | server.py stdio.

Uses orjson if it is installed, otherwise the json module of the standard library.
"""

import asyncio
import gc
import json
import os
import sys
import zlib

try:
    from orjson import dumps, loads
except ImportError:
    loads = json.loads

    def dumps(value, encode=json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode):
        return encode(value).encode()


class Service:
    """The one store of a connection."""

    def __init__(self):
        self.todos, self.made, self.revision = [], 0, 0
        self.is_content = self.is_subscribed = False

    def append(self, title):
        self.made += 1
        todo = {"id": str(self.made), "title": title, "completed": False}
        self.todos.append(todo)
        return todo

    def place(self, todo):
        """Returns the index of a todo, or None. Ids increase, because todos never move."""
        wanted, low, high = int(todo), 0, len(self.todos)
        while low < high:
            middle = (low + high) // 2
            if int(self.todos[middle]["id"]) < wanted:
                low = middle + 1
            else:
                high = middle
        return low if low < len(self.todos) and self.todos[low]["id"] == todo else None

    def state(self):
        return {"type": "content", "todos": self.todos} if self.is_content else {"type": "loading"}

    def change(self, sent):
        """Carries out an input and returns the operations of its update."""
        kind = sent["type"]
        if kind == "todoAdded":
            todo = self.append(sent["title"])
            return [{"op": "add", "path": f"/todos/{len(self.todos) - 1}", "value": todo}]
        if kind == "stateRequested":
            if self.is_content:
                return []
            self.is_content = True
            return [{"op": "replace", "path": "", "value": self.state()}]
        place = self.place(sent["id"])
        if place is None:
            return []
        if kind == "todoRemoved":
            del self.todos[place]
            return [{"op": "remove", "path": f"/todos/{place}"}]
        if kind == "todoRenamed":
            self.todos[place]["title"] = sent["title"]
            return [{"op": "replace", "path": f"/todos/{place}/title", "value": sent["title"]}]
        raise KeyError(kind)

    def send(self, number, params, out):
        patch = self.change(params["input"])
        if patch:
            base = self.revision
            self.revision += 1
            if self.is_subscribed:
                out.append(dumps({
                    "jsonrpc": "2.0", "method": "store/changed",
                    "params": {"store": "todo", "base": base, "revision": self.revision,
                               "patch": patch, "applied": number}}))
        return {"revision": self.revision, "changed": bool(patch)}

    def result(self, number, method, params, out):
        if method == "store/send":
            return self.send(number, params, out)
        if method == "store/open":
            for count in range(params["config"]["memory"]["count"]):
                self.append(f"Todo {count + 1}")
            return {"revision": 0}
        if method == "store/subscribe":
            self.is_subscribed = True
            return {"revision": self.revision, "state": self.state()}
        if method == "store/state":
            text = json.dumps(self.state(), sort_keys=True, ensure_ascii=False, separators=(",", ":"))
            return {"revision": self.revision, "state": self.state(),
                    "digest": zlib.crc32(text.encode())}
        raise KeyError(method)

    def take(self, line, out):
        """Handles one line; appends updates and then the response to `out`."""
        request = {}
        try:
            request = loads(line)
            number = request["id"]
            result = self.result(number, request["method"], request.get("params"), out)
            out.append(dumps({"jsonrpc": "2.0", "id": number, "result": result}))
        except (ValueError, KeyError, TypeError) as error:
            out.append(dumps({"jsonrpc": "2.0", "id": request.get("id"),
                              "error": {"code": -32602, "message": str(error)}}))


class Lines:
    """Splits the input of a connection into lines; returns the output of one turn."""

    def __init__(self, service=None):
        self.service, self.partial = service or Service(), b""

    def take(self, data):
        lines = (self.partial + data).split(b"\n")
        self.partial = lines.pop()
        out = []
        for line in lines:
            self.service.take(line, out)
        out.append(b"")
        return b"\n".join(out)


class Connection(asyncio.Protocol):
    def connection_made(self, transport):
        self.transport, self.lines = transport, Lines()

    def data_received(self, data):
        self.transport.write(self.lines.take(data))


async def listen(port):
    server = await asyncio.get_running_loop().create_server(
        Connection, "127.0.0.1", port, backlog=4096)
    await server.serve_forever()


def serve_stdio(service=None):
    lines = Lines(service)
    while data := os.read(0, 65536):
        out = lines.take(data)
        while out:
            out = out[os.write(1, out):]


def main():
    if sys.argv[1] == "stdio":
        serve_stdio()
    else:
        gc.freeze()
        asyncio.run(listen(int(sys.argv[1])))


if __name__ == "__main__":
    main()

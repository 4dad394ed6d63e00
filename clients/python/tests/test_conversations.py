# SPDX-License-Identifier: Apache-2.0
"""The conformance test with the shared conversations: the test plays the server for connections."""

from __future__ import annotations

import asyncio
import copy
import json
import os
import subprocess
import tempfile
import unittest
from typing import Any

from statewire import (
    Connection,
    ConnectionListener,
    ConnectionLostError,
    Replica,
    RPCError,
    StatewireError,
    digest,
)
from statewire.patch import same
from statewire.replica import Divergence

from .support import DATA, PROGRAM
from .transcript import Conversation, Line, conversations


class MemoryWire:
    """Records sent messages."""

    def __init__(self) -> None:
        self.sent: list[Any] = []
        self.is_closed = False

    def send(self, message: bytes) -> None:
        self.sent.append(json.loads(message))

    async def drain(self) -> None:
        return

    def close(self) -> None:
        self.is_closed = True

    def abort(self) -> None:
        self.is_closed = True


class Heard(ConnectionListener):
    """Records callbacks."""

    def __init__(self) -> None:
        self.notifications: list[tuple[str, Any]] = []
        self.divergences: list[tuple[str, Divergence]] = []
        self.failures: list[RPCError] = []
        self.end: StatewireError | None = None

    def notified(self, method: str, params: dict[str, Any]) -> None:
        self.notifications.append((method, copy.deepcopy(params)))

    def diverged(self, replica: Replica, divergence: Divergence) -> None:
        self.divergences.append((replica.store, divergence))

    def failed(self, error: RPCError) -> None:
        self.failures.append(error)

    def ended(self, reason: StatewireError) -> None:
        self.end = reason


class Replay:
    """The expected replicas of one connection, computed by a simple replay."""

    def __init__(self, seen: dict[tuple[str, int], Any]) -> None:
        self.held: dict[str, tuple[int, Any]] = {}
        # All states of the conversation, over all connections.
        self.seen = seen

    def hold(self, store: str, revision: int, state: Any) -> None:
        self.held[store] = (revision, state)
        self.seen[store, revision] = copy.deepcopy(state)

    def changed(self, params: dict[str, Any]) -> None:
        store = params["store"]
        if store not in self.held:
            return
        revision, state = self.held[store]
        assert params["base"] == revision, "the transcript itself has a gap"
        if "state" in params:
            state = params["state"]
        else:
            state = copy.deepcopy(state)
            for operation in params["patch"]:
                state = perform(operation, state)
        self.hold(store, params["revision"], state)

    def understand(self, method: str, params: dict[str, Any], result: dict[str, Any]) -> None:
        store = params.get("store", "")
        if method == "store/subscribe":
            self.hold(store, result["revision"], result["state"])
        elif method == "store/unsubscribe":
            self.held.pop(store, None)
        elif method in ("session/detach", "session/close"):
            self.held.clear()
        elif method == "session/attach":
            before, self.held = self.held, {}
            for name, response in result["stores"].items():
                if "snapshot" in response:
                    self.hold(name, response["snapshot"]["revision"], response["snapshot"]["state"])
                elif "replayed" in response and name in before:
                    self.held[name] = before[name]


def perform(operation: dict[str, Any], document: Any) -> Any:
    """Applies one operation of RFC 6902. Operations of the server always apply."""
    path = [part.replace("~1", "/").replace("~0", "~") for part in operation["path"].split("/")[1:]]
    op = operation["op"]
    value = operation.get("value")
    if op in ("move", "copy"):
        source = [part.replace("~1", "/").replace("~0", "~") for part in operation["from"].split("/")[1:]]
        value = document
        for part in source:
            value = value[int(part)] if isinstance(value, list) else value[part]
        value = copy.deepcopy(value)
        if op == "move":
            document = perform({"op": "remove", "path": operation["from"]}, document)
        op = "add"
    if not path:
        return value
    parent = document
    for part in path[:-1]:
        parent = parent[int(part)] if isinstance(parent, list) else parent[part]
    key = int(path[-1]) if isinstance(parent, list) and path[-1] != "-" else path[-1]
    if op == "remove":
        del parent[key]
    elif op == "add" and isinstance(parent, list):
        parent.insert(len(parent) if key == "-" else key, value)
    else:
        parent[key] = value
    return document


class PlayedConnection:
    """The server side of one connection of a conversation."""

    def __init__(self, case: unittest.TestCase, seen: dict[tuple[str, int], Any]) -> None:
        self.case = case
        self.heard = Heard()
        self.wire = MemoryWire()
        self.connection = Connection(self.heard)
        self.connection.use(self.wire)
        self.replay = Replay(seen)
        # The client's request ids by those of the conversation, and the open requests.
        self.ids: dict[str, int] = {}
        self.open: dict[str, tuple[str, dict[str, Any], asyncio.Future[Any]]] = {}
        self.tasks: list[asyncio.Task[Any]] = []

    # -->

    async def send(self, line: Line) -> None:
        message = line.message
        if line.text in ("close", "end of input"):
            self.connection.shut()
            self.case.assertTrue(self.wire.is_closed)
            self.connection.ended(None)
        elif not is_request(message) or (spelled(message.get("id")) in self.open and "id" in message):
            return
        elif message["method"] == "$/cancelRequest" and "id" not in message:
            request = self.ids.get(spelled(message["params"]["id"]))
            if request is not None:
                self.connection.cancel(request)
                self.expect_sent({"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": request}})
        elif "id" not in message:
            self.connection.notify(message["method"], message.get("params"))
            self.expect_sent({"params": {}, **message})
        else:
            await self.request(message)

    async def request(self, message: dict[str, Any]) -> None:
        method, params = message["method"], dict(message.get("params") or {})
        if method == "$/cancelRequest" and spelled(params.get("id")) in self.ids:
            params["id"] = self.ids[spelled(params["id"])]
        if method == "session/attach":
            for store, revision in (params.get("revisions") or {}).items():
                self.hold_before(store, revision)
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Any] = loop.create_future()
        # The callback runs before the frame after the response is handled.
        request = self.connection.start(method, params, future.set_result)
        sent = self.expect_sent({"jsonrpc": "2.0", "id": request, "method": method, "params": params})
        key = spelled(message["id"])
        self.ids[key] = sent["id"]
        self.open[key] = (method, params, future)

    def hold_before(self, store: str, revision: int | None) -> None:
        """Gives the connection the replica that another connection had at a revision."""
        if revision is None or self.replay.held.get(store, (None,))[0] == revision:
            return
        if (store, revision) in self.replay.seen:
            state = self.replay.seen[store, revision]
            self.replay.hold(store, revision, copy.deepcopy(state))
            self.connection.replicas[store] = Replica(store, revision, copy.deepcopy(state))
        else:
            self.replay.held.pop(store, None)
            self.connection.replicas.pop(store, None)

    def expect_sent(self, message: dict[str, Any]) -> Any:
        self.case.assertEqual(len(self.wire.sent), 1, "the client has sent something else, or nothing")
        sent = self.wire.sent.pop()
        self.case.assertTrue(same(sent, message), f"{sent} in place of {message}")
        return sent

    # <--

    async def respond(self, line: Line) -> None:
        if line.text == "close":
            self.connection.ended(None)
            self.case.assertIsInstance(self.heard.end, ConnectionLostError)
            for _, _, future in self.open.values():
                self.case.assertIsInstance(future.result(), ConnectionLostError)
            self.open.clear()
        else:
            parts = line.message if isinstance(line.message, list) else [line.message]
            mapped = [self.mapped(part) for part in parts]
            whole = mapped if isinstance(line.message, list) else mapped[0]
            self.connection.received(json.dumps(whole).encode())
            for part, sent in zip(parts, mapped, strict=True):
                self.check(part, sent)
            self.case.assertEqual(self.heard.notifications, [])
        self.case.assertEqual(self.wire.sent, [], "the client has sent a message without a call")
        self.case.assertEqual(self.heard.divergences, [])
        self.compare()

    def mapped(self, message: dict[str, Any]) -> dict[str, Any]:
        """Replaces the ids of a message with those of the client."""
        mapped = copy.deepcopy(message)
        if "id" in message and message["id"] is not None:
            key = spelled(message["id"])
            mapped["id"] = self.ids[key] if key in self.open else "unasked"
        if isinstance(message.get("params"), dict) and message["params"].get("applied") is not None:
            mapped["params"]["applied"] = self.ids.get(spelled(message["params"]["applied"]))
        return mapped

    def check(self, message: dict[str, Any], sent: dict[str, Any]) -> None:
        case = self.case
        if "method" in message:
            if message["method"] == "store/changed":
                self.replay.changed(message["params"])
            elif message["method"] == "store/closed":
                self.replay.held.pop(message["params"]["store"], None)
            elif message["method"] == "session/closed":
                self.replay.held.clear()
            method, params = self.heard.notifications.pop(0)
            case.assertEqual(method, message["method"])
            case.assertTrue(same(params, sent["params"]))
        elif message["id"] is None:
            if "error" in message:
                self.check_error(self.heard.failures.pop(0), message["error"])
        elif sent["id"] != "unasked":
            method, params, future = self.open.pop(spelled(message["id"]))
            case.assertTrue(future.done(), "the response has not ended the request")
            response = future.result()
            if "error" in message:
                self.check_error(response, message["error"])
                return
            case.assertTrue(same(response, {} if method == "shutdown" else message["result"]), response)
            self.replay.understand(method, params, message["result"])
            held = self.replay.held.get(params.get("store", ""))
            if method == "store/state":
                case.assertEqual(digest(response["state"]), response["digest"])
                if held and held[0] == response["revision"]:
                    view = self.connection.replicas[params["store"]]
                    case.assertEqual(digest(view.state), response["digest"])

    def check_error(self, error: Any, expected: dict[str, Any]) -> None:
        self.case.assertIsInstance(error, RPCError)
        self.case.assertEqual(
            (error.code, error.message, error.data),
            (expected["code"], expected["message"], expected.get("data")))
        self.case.assertIsNot(type(error), RPCError, f"no class for the code {error.code}")
        if "path" in (expected.get("data") or {}) and hasattr(error, "path"):
            self.case.assertEqual(error.path, expected["data"]["path"])

    def compare(self) -> None:
        replicas = self.connection.replicas
        self.case.assertEqual(set(replicas), set(self.replay.held))
        for store, (revision, state) in self.replay.held.items():
            self.case.assertEqual(replicas[store].revision, revision)
            self.case.assertTrue(same(replicas[store].state, state), replicas[store].state)


def spelled(request: Any) -> str:
    return json.dumps(request)


def is_request(message: Any) -> bool:
    """Returns True if a client sends such a message."""
    return (
        isinstance(message, dict)
        and message.get("jsonrpc") == "2.0"
        and isinstance(message.get("method"), str)
        and isinstance(message.get("params", {}), dict | None)
        and message.get("id", 1) is not None
        and isinstance(message.get("id", 1), str | int | float)
        and not isinstance(message.get("id"), bool)
    )


async def play(case: unittest.TestCase, conversation: Conversation) -> int:
    """Plays a conversation; returns the number of checked messages."""
    connections: dict[str, PlayedConnection] = {}
    seen: dict[tuple[str, int], Any] = {}
    for line in conversation.lines:
        connection = connections.get(line.name)
        if connection is None or connection.heard.end is not None:
            connection = connections[line.name] = PlayedConnection(case, seen)
        try:
            await (connection.send(line) if line.is_sent else connection.respond(line))
        except AssertionError as error:
            raise AssertionError(f"line {line.number}: {line.text[:300]}\n{error}") from error
    return len(conversation.lines)


class ConversationTests(unittest.TestCase):
    def test_all(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "transcript")
            subprocess.run(
                [DATA / "record", path], check=True, env={**os.environ, "STATEWIRE": PROGRAM},
                stdin=subprocess.DEVNULL, capture_output=True)
            with open(path, encoding="utf-8", newline="\n") as file:
                recorded = conversations(file.read())
        self.assertGreater(len(recorded), 40)
        for conversation in recorded:
            with self.subTest(conversation.title):
                self.assertGreater(asyncio.run(play(self, conversation)), 1)

    def test_wrong_client_fails_the_run(self) -> None:
        """Checks that the test detects errors."""
        subscribed = '<-- {"jsonrpc":"2.0","id":1,"result":{"revision":0,"state":{"a":1}}}'
        asked = '--> {"jsonrpc":"2.0","id":1,"method":"store/subscribe","params":{"store":"s"}}'
        changed = ('<-- {"jsonrpc":"2.0","method":"store/changed","params":{"store":"s","base":0,'
                   '"revision":1,"patch":[{"op":"replace","path":"/a","value":2}],"applied":null}}')
        text = "\n".join(["# planted", asked, subscribed, changed])
        asyncio.run(play(self, conversations(text)[0]))

        original = Replica.apply
        try:
            Replica.apply = lambda self, update: None  # type: ignore[method-assign]
            with self.assertRaises(AssertionError):
                asyncio.run(play(self, conversations(text)[0]))
        finally:
            Replica.apply = original  # type: ignore[method-assign]


if __name__ == "__main__":
    unittest.main()

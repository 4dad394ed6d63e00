# SPDX-License-Identifier: Apache-2.0
"""Inputs that cannot be accepted end with an error."""

from __future__ import annotations

import asyncio
import json
import logging
import unittest
from collections.abc import Callable
from typing import Any

from statewire import (
    TODO,
    Backoff,
    Client,
    ConnectionLostError,
    LimitError,
    ParseError,
    SessionEndedError,
    StatewireError,
)
from statewire.connection import Connection
from statewire.limits import Limits, request_frame
from statewire.types import TodoViewState

from .support import Server, free_port, run

SOON = Backoff(base=0.01, maximum=0.1)
JSON = dict[str, Any]


def deep(levels: int) -> Any:
    """Makes nested arrays."""
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


class Stand:
    """A server with given responses, which records received messages."""

    def __init__(self, limits: JSON | None = None, session: str = "s") -> None:
        self.limits, self.session = limits, session
        self.inputs: list[JSON] = []
        self.methods: list[str] = []
        # The response to an input.
        self.respond: Callable[[JSON, int], JSON | None] = lambda message, size: {
            "id": message["id"], "result": {"revision": 0, "changed": False}}
        self.writer: asyncio.StreamWriter | None = None
        self.sent = asyncio.Event()

    async def __aenter__(self) -> Stand:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, limit=1 << 24)
        self.url = f"tcp://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.writer = writer
        while line := await reader.readline():
            message = json.loads(line)
            self.methods.append(message["method"])
            response: JSON | None = {"id": message["id"], "result": {}} if "id" in message else None
            if message["method"] == "initialize":
                response = {"id": message["id"], "result": {"limits": self.limits} if self.limits else {}}
            elif message["method"] in ("session/open", "session/attach"):
                response = {"id": message["id"], "result": {
                    "session": self.session, "sequence": None,
                    "stores": {"todo": {"replayed": 0}}}}
            elif message["method"] == "store/subscribe":
                response = {"id": message["id"], "result": {"revision": 0, "state": {"type": "loading"}}}
            elif message["method"] == "store/send":
                self.inputs.append(message)
                response = self.respond(message, len(line) - 1)
            if response is not None:
                writer.write(json.dumps({"jsonrpc": "2.0", **response}).encode() + b"\n")
            self.sent.set()
        writer.close()

    async def received(self, count: int) -> None:
        """Waits until a number of inputs has arrived."""
        while len(self.inputs) < count:
            self.sent.clear()
            await self.sent.wait()


def refusal(limit: str) -> JSON:
    return {"id": None, "error": {"code": -32015, "message": "too much", "data": {"limit": limit}}}


class LimitTests(unittest.TestCase):
    def setUp(self) -> None:
        logging.disable(logging.CRITICAL)

    def tearDown(self) -> None:
        logging.disable(logging.NOTSET)

    def test_a_frame_is_measured_to_the_byte(self) -> None:
        frame = request_frame(1, "ping", {"text": "é[{"})
        Limits(len(frame), 2).check(frame)
        with self.assertRaises(LimitError) as caught:
            Limits(len(frame) - 1, None).check(frame)
        self.assertEqual(caught.exception.limit, "frameBytes")
        # Brackets in strings do not count.
        nested = request_frame(1, "ping", {"[[[[": '\\"[[[', "a": deep(3)})
        Limits(None, 5).check(nested)
        with self.assertRaises(LimitError) as caught:
            Limits(None, 4).check(nested)
        self.assertEqual(caught.exception.limit, "nesting")
        Limits.of("nonsense").check(nested)
        Limits.of({"frameBytes": True, "nesting": "9"}).check(nested)
        with self.assertRaises(LimitError):
            request_frame(1, "ping", {"a": deep(100_000)})

    def test_limits_from_initialize_are_applied(self) -> None:
        async def test() -> None:
            async with Stand({"frameBytes": 1000, "nesting": 10}) as stand, Client(stand.url) as client:
                todo = await client.open(TODO)
                for title, limit in (
                    ("😀" * 1000, "frameBytes"), (deep(9), "nesting"), (deep(5000), "nesting"),
                ):
                    with self.assertRaises(LimitError) as caught:
                        await todo.send({"type": "todoAdded", "title": title}, settle=True)
                    self.assertEqual((caught.exception.code, caught.exception.limit), (-32015, limit))
                with self.assertRaises(LimitError):
                    await client.request("ping", {"text": "x" * 1000})
                await todo.send({"type": "todoAdded", "title": "fits"})
                # Nothing was sent and no sequence number was used.
                self.assertEqual([sent["params"]["sequence"] for sent in stand.inputs], [1])
                # Also while offline, immediately.
                assert client._connection
                client._connection.abort()
                while client.status == "connected":
                    await asyncio.sleep(0)
                with self.assertRaises(LimitError):
                    todo.post({"type": "todoAdded", "title": "x" * 1000})
                with self.assertRaises(TypeError):
                    todo.post({"type": "todoAdded", "title": object()})  # type: ignore[typeddict-item]
                await todo.send({"type": "todoAdded", "title": "after"})
                self.assertEqual([sent["params"]["sequence"] for sent in stand.inputs], [1, 2])

        run(test())

    def test_limits_of_a_new_server_are_lower(self) -> None:
        async def test() -> None:
            async with Stand({"frameBytes": 10_000}) as stand, Client(stand.url, backoff=SOON) as client:
                todo = await client.open(TODO)
                stand.respond = lambda message, size: None
                large = todo.post({"type": "todoAdded", "title": "x" * 5000})
                small = todo.post({"type": "todoAdded", "title": "small"})
                await stand.received(2)
                stand.limits = {"frameBytes": 1000}
                stand.respond = lambda message, size: {
                    "id": message["id"], "result": {"revision": 0, "changed": True}}
                assert client._connection
                client._connection.abort()
                with self.assertRaises(LimitError):
                    await large
                await small
                self.assertEqual(len(stand.inputs), 3)

        run(test())

    def test_error_with_null_id_fails_its_request(self) -> None:
        """The server reports no limits and responds late: only the sizes identify the input."""

        async def test() -> None:
            async with Stand() as stand, Client(stand.url, backoff=SOON) as client:
                todo = await client.open(TODO)
                stand.respond = lambda message, size: refusal("frameBytes") if size > 1000 else None
                small = todo.post({"type": "todoAdded", "title": "small"}, settle=True)
                large = [
                    todo.post({"type": "todoAdded", "title": "x" * length}, settle=settle)
                    for length, settle in ((2000, True), (3000, False), (1500, True))]
                for response in large:
                    with self.assertRaises(LimitError) as caught:
                        await response
                    self.assertEqual(caught.exception.limit, "frameBytes")
                # The server refused one frame; from then on the limit is known.
                with self.assertRaises(LimitError):
                    todo.post({"type": "todoAdded", "title": "x" * 1500}, settle=True)
                self.assertEqual(len(stand.inputs), 4)

                stand.respond = lambda message, size: refusal("nesting")
                nested = todo.post({"type": "todoAdded", "title": deep(200)}, settle=True)
                with self.assertRaises(LimitError) as caught:
                    await nested
                self.assertEqual(caught.exception.limit, "nesting")
                self.assertFalse(small.done())

                # No refused input is sent again.
                stand.respond = lambda message, size: {
                    "id": message["id"], "result": {"revision": 0, "changed": True}}
                before = len(stand.inputs)
                assert client._connection
                client._connection.abort()
                await small
                self.assertEqual(len(stand.inputs), before + 1)

        run(test())

    def test_unparseable_frame_fails_its_request(self) -> None:
        async def test() -> None:
            async with Stand() as stand, Client(stand.url) as client:
                todo = await client.open(TODO)
                unread = {"id": None, "error": {"code": -32700, "message": "what is this"}}
                stand.respond = lambda message, size: (
                    unread if message["params"]["input"]["title"] == "odd" else None)
                # A request with `settle` may be open for long, so another open request ends first.
                waits = todo.post({"type": "todoAdded", "title": "waits"}, settle=True)
                with self.assertRaises(ParseError):
                    await todo.send({"type": "todoAdded", "title": "odd"})
                self.assertFalse(waits.done())
                waits.cancel()

        run(test())

    def test_against_the_program(self) -> None:
        async def test() -> None:
            async with await Server.start("--maximum-frame-bytes", "3000") as server:
                async with Client(server.url) as client:
                    todo = await client.open(TODO, "list", {"memory": {"count": 0}})
                    await todo.send({"type": "stateRequested"})
                    for title in ("x" * 4000, deep(130)):
                        with self.assertRaises(LimitError) as caught:
                            await todo.send({"type": "todoAdded", "title": title}, settle=True)
                        self.assertIn(caught.exception.limit, ("frameBytes", "nesting"))
                    await todo.send({"type": "todoAdded", "title": "x" * 2000})
                    state = todo.state
                    assert state["type"] == "content"
                    self.assertEqual(len(state["todos"]), 1)

                # Frames of exactly the limits that the program reports.
                bare = await Connection.to(server.url)
                greeted = await bare.request("initialize")
                limits = Limits.of(greeted.get("limits"))
                self.assertEqual(limits, Limits(3000, 128))
                for size, depth in ((3000, 128), (3001, 2), (2, 129)):
                    params: JSON = {"a": deep(depth - 2), "pad": ""}
                    room = size - len(request_frame(2, "ping", params))
                    params["pad"] = "x" * max(0, room)
                    request, response = bare.begin("ping", params)
                    frame = request_frame(request, "ping", params)
                    if (size, depth) == (3000, 128):
                        limits.check(frame)
                        await response
                    else:
                        with self.assertRaises(LimitError):
                            limits.check(frame)
                        await bare.request("ping")
                        self.assertFalse(response.done())
                        response.cancel()
                await bare.close()

        run(test())


class LostTests(unittest.TestCase):
    """No pending input is dropped without an error."""

    def setUp(self) -> None:
        logging.disable(logging.CRITICAL)

    def tearDown(self) -> None:
        logging.disable(logging.NOTSET)

    def test_idempotent_inputs_are_sent_to_the_new_session(self) -> None:
        async def test() -> None:
            address = f"127.0.0.1:{free_port()}"
            server = await Server.start("--test", listen=("--tcp", address))
            async with Client(f"tcp://{address}", backoff=SOON) as client:
                todo = await client.open(TODO, "list", {"memory": {"count": 0}})
                await todo.send({"type": "stateRequested"})
                await client.request("test/injectFault", {
                    "store": "list", "operation": "addTodo", "fault": {"type": "hang"}, "times": 2})
                again = todo.post(
                    {"type": "todoAdded", "title": "again", "id": "1"}, settle=True, idempotent=True)
                once = todo.post({"type": "todoAdded", "title": "once"}, settle=True)
                await client.request("ping")
                await server.kill()
                later = todo.post({"type": "todoRenamed", "id": "1", "title": "later"}, idempotent=True)
                server = await Server.start("--test", listen=("--tcp", address))
                with self.assertRaises(SessionEndedError):
                    await once
                await again
                await later

                def titles(state: TodoViewState) -> list[str]:
                    return [todo["title"] for todo in state["todos"]] if state["type"] == "content" else []

                await todo.send({"type": "stateRequested"}, settle=True)
                self.assertEqual(titles(todo.state), ["later"])
            await server.kill()

        run(test())

    def test_failed_client_fails_pending_requests(self) -> None:
        async def test() -> None:
            async with Stand() as stand, Client(stand.url, backoff=SOON) as client:
                todo = await client.open(TODO)
                stand.respond = lambda message, size: None
                waits = todo.post({"type": "stateRequested"})
                await stand.received(1)
                client._attach = broken  # type: ignore[method-assign]
                assert client._connection
                client._connection.abort()
                with self.assertRaises(ConnectionLostError):
                    await waits
                self.assertEqual(client.status, "closed")

        run(test())

    def test_close_fails_pending_requests(self) -> None:
        async def test() -> None:
            async with Stand() as stand:
                client = await Client(stand.url).__aenter__()
                todo = await client.open(TODO)
                stand.respond = lambda message, size: None
                sent = todo.post({"type": "stateRequested"})
                await stand.received(1)
                await client.close()
                with self.assertRaises(SessionEndedError) as caught:
                    await sent
                self.assertEqual(caught.exception.reason, "clientClosed")

        run(test())


async def broken(connection: Connection) -> int | None:
    raise KeyError("a fault")


class PrintableTests(unittest.TestCase):
    def test_error_texts_have_no_control_characters(self) -> None:
        error = LimitError.of({"code": -32015, "message": "a\x1b]2;b\x07\x9bc\u202ed\nе\ud800", "data": None})
        self.assertIsInstance(error, StatewireError)
        self.assertEqual(str(error), "a␛]2;b␇�c�d␊е� (-32015)")
        self.assertEqual(error.message, "a\x1b]2;b\x07\x9bc\u202ed\nе\ud800")
        self.assertNotIn("\x1b", str(SessionEndedError("\x1b")))


if __name__ == "__main__":
    unittest.main()

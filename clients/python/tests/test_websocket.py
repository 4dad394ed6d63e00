# SPDX-License-Identifier: Apache-2.0
"""The WebSocket transport with an independent server, and with one that violates RFC 6455."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
import logging
import unittest
import urllib.parse
from collections.abc import Callable

from websockets.asyncio.server import ServerConnection, serve

from statewire import TODO, Backoff, Client, ConnectionLostError
from statewire.transports.websocket import WebSocketError, WebSocketTransport, open_websocket

from .support import Server, run

SOON = Backoff(base=0.01, maximum=0.1)


class Heard:
    """Records received messages."""

    def __init__(self) -> None:
        self.messages: asyncio.Queue[str] = asyncio.Queue()
        self.end: asyncio.Future[BaseException | None] = asyncio.get_running_loop().create_future()

    def received(self, message: bytes | bytearray | str) -> None:
        assert isinstance(message, str)
        self.messages.put_nowait(message)

    def ended(self, reason: BaseException | None) -> None:
        self.end.set_result(reason)


async def connect(port: int, heard: Heard, path: str = "/") -> WebSocketTransport:
    return await open_websocket(urllib.parse.urlsplit(f"ws://127.0.0.1:{port}{path}"), heard, None)


class AgainstAnotherTests(unittest.TestCase):
    def setUp(self) -> None:
        logging.disable(logging.CRITICAL)

    def tearDown(self) -> None:
        logging.disable(logging.NOTSET)

    def test_messages_of_all_sizes(self) -> None:
        async def echo(connection: ServerConnection) -> None:
            async for message in connection:
                assert isinstance(message, str)
                await connection.send(message)
                # In fragments, with a ping between them.
                await connection.ping()
                await connection.send(message[index : index + 1000] for index in range(0, len(message), 1000))

        async def test() -> None:
            async with serve(echo, "127.0.0.1", 0, max_size=None) as server:
                heard = Heard()
                wire = await connect(next(iter(server.sockets)).getsockname()[1], heard)
                for length in (0, 1, 125, 126, 127, 65_535, 65_536, 1_000_001):
                    message = ("ä😀x" * length)[:length]
                    wire.send(message.encode())
                    self.assertEqual(await heard.messages.get(), message)
                    if length:
                        self.assertEqual(await heard.messages.get(), message)
                wire.close()
                self.assertIsNone(await heard.end)

        run(test())

    def test_client_resumes_over_websocket(self) -> None:
        async def test() -> None:
            async with await Server.start() as program:
                host, port = program.address.split(":")

                async def bridge(connection: ServerConnection) -> None:
                    reader, writer = await asyncio.open_connection(host, int(port))

                    async def down() -> None:
                        while line := await reader.readline():
                            await connection.send(line.decode().rstrip("\n"))

                    passing = asyncio.create_task(down())
                    count = 0
                    async for message in connection:
                        assert isinstance(message, str)
                        count += 1
                        if count == 20:
                            connection.transport.abort()
                            break
                        writer.write(message.encode() + b"\n")
                    writer.close()
                    passing.cancel()

                async with serve(bridge, "127.0.0.1", 0) as server:
                    address = f"ws://127.0.0.1:{next(iter(server.sockets)).getsockname()[1]}/"
                    async with Client(address, backoff=SOON) as client:
                        store = await client.open(TODO, "list", {"memory": {"count": 0}})
                        await store.send({"type": "stateRequested"})
                        for number in range(50):
                            await store.send({"type": "todoAdded", "title": str(number)})
                        assert store.state["type"] == "content"
                        self.assertEqual(len(store.state["todos"]), 50)
                        self.assertGreater(client.reconnects, 2)
                        self.assertTrue(await store.verify())

        run(test())

    def test_close_code_is_reported(self) -> None:
        async def test() -> None:
            async def close(connection: ServerConnection) -> None:
                await connection.close(1008, "not you")

            async with serve(close, "127.0.0.1", 0) as server:
                heard = Heard()
                await connect(next(iter(server.sockets)).getsockname()[1], heard)
                reason = await heard.end
                assert isinstance(reason, WebSocketError)
                self.assertEqual(reason.code, 1008)
                self.assertIn("not you", str(reason))

        run(test())

    def test_the_program_itself(self) -> None:
        async def test() -> None:
            async with await Server.start("--test", listen=("--web", "127.0.0.1:0")) as program:
                address = program.address.removeprefix("http://").rstrip("/")
                async with Client(f"ws://{address}/", backoff=SOON) as client:
                    store = await client.open(TODO, "list", {"memory": {"count": 3000}})
                    await store.send({"type": "stateRequested"})
                    for number in range(50):
                        await client.drain()
                        title = f"{number} " + "x" * 4000
                        response = store.post({"type": "todoRenamed", "id": "7", "title": title})
                    await response
                    assert client._connection
                    client._connection.abort()
                    await store.send({"type": "todoAdded", "title": "Zürich 😀"})
                    self.assertTrue(await store.verify())
                    self.assertEqual(client.reconnects, 1)
                with self.assertRaises(ConnectionLostError):
                    await Client(f"ws://{address}/nothing-is-here", timeout=5).connect()

        run(test())

    def test_server_without_websocket(self) -> None:
        async def test() -> None:
            async with await Server.start() as program:
                with self.assertRaises(ConnectionLostError):
                    await Client(f"ws://{program.address}/", timeout=5).connect()

        run(test())


def frame(first: int, payload: bytes, masked: bool = False) -> bytes:
    assert len(payload) < 126
    return bytes((first, len(payload) | (0x80 if masked else 0))) + (b"\0\0\0\0" if masked else b"") + payload


class BrokenRulesTests(unittest.TestCase):
    def broken(self, code: int, sent: bytes, head: Callable[[str], str] | None = None) -> None:
        """Sends bytes and checks the close code and the reported reason."""

        async def test() -> None:
            close_frame: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()

            async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
                request = (await reader.readuntil(b"\r\n\r\n")).decode()
                key = request.lower().split("sec-websocket-key: ")[1].split("\r\n")[0]
                key = request[request.lower().index(key) :][: len(key)]
                accept = base64.b64encode(
                    hashlib.sha1((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").encode()).digest()).decode()
                response = ("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n"
                          f"Connection: keep-alive, Upgrade\r\nSec-WebSocket-Accept: {accept}\r\n\r\n")
                # Byte by byte, so that each read is incomplete.
                try:
                    for byte in (head(response) if head else response).encode() + sent:
                        writer.write(bytes((byte,)))
                        await writer.drain()
                    close_frame.set_result(await reader.read())
                except ConnectionError:
                    # A server that still sends may lose the close frame, because TCP resets the connection.
                    close_frame.set_result(b"")
                writer.close()

            listener = await asyncio.start_server(serve, "127.0.0.1", 0)
            heard = Heard()
            try:
                await connect(listener.sockets[0].getsockname()[1], heard)
            except WebSocketError:
                self.assertEqual(code, 0)
            else:
                reason = await heard.end
                assert isinstance(reason, WebSocketError), reason
                self.assertEqual(reason.code, code)
                response = await close_frame
                if response:
                    self.assertEqual(response[0], 0x88)
                    mask, payload = response[2:6], response[6:]
                    unmasked = bytes(byte ^ mask[index % 4] for index, byte in enumerate(payload))
                    self.assertEqual(int.from_bytes(unmasked[:2], "big"), code)
            listener.close()

        with self.subTest(sent):
            run(test())

    def test_frames(self) -> None:
        self.broken(1002, frame(0x81, b"{}", masked=True))
        self.broken(1002, frame(0xC1, b"{}"))
        self.broken(1002, frame(0x83, b"{}"))
        self.broken(1002, frame(0x8B, b""))
        self.broken(1002, frame(0x80, b"goes on"))
        self.broken(1002, frame(0x01, b"begins") + frame(0x01, b"begins again"))
        self.broken(1002, frame(0x09, b"a ping in parts"))
        self.broken(1002, bytes((0x89, 126, 0, 126)) + b"x" * 126)
        self.broken(1003, frame(0x82, b"binary"))
        self.broken(1007, frame(0x81, b"\xff"))
        self.broken(1007, frame(0x01, b"\xf0\x9f") + frame(0x80, b"\x98"))
        self.broken(1009, bytes((0x81, 127)) + (1 << 40).to_bytes(8, "big"))

    def test_heads(self) -> None:
        self.broken(0, b"", lambda head: head.replace("101", "200"))
        self.broken(0, b"", lambda head: head.replace("Accept: ", "Accept: x"))
        self.broken(0, b"", lambda head: head.replace("websocket", "h2c"))
        self.broken(0, b"", lambda head: head.replace("keep-alive, Upgrade", "keep-alive"))
        self.broken(0, b"", lambda head: head.replace("\r\n\r\n", "\r\nSec-WebSocket-Extensions: x\r\n\r\n"))
        self.broken(0, b"", lambda head: "x" * 20_000)

    def test_fragments_split_a_character(self) -> None:
        async def test() -> None:
            heard = Heard()
            wire = WebSocketTransport(urllib.parse.urlsplit("ws://a/"), heard)
            wire._was_opened = True
            whole = json.dumps({"a": "😀"}, ensure_ascii=False).encode()
            wire.data_received(frame(0x01, whole[:8]) + frame(0x89, b"ping") + frame(0x00, whole[8:9]))
            wire.data_received(frame(0x80, whole[9:]) + frame(0x81, b"[]")[:3])
            wire.data_received(frame(0x81, b"[]")[3:])
            self.assertEqual(heard.messages.get_nowait(), whole.decode())
            self.assertEqual(heard.messages.get_nowait(), "[]")
            wire.opened.cancel()

        run(test())


if __name__ == "__main__":
    unittest.main()

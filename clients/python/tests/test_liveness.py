# SPDX-License-Identifier: Apache-2.0
"""Dead connections."""

from __future__ import annotations

import asyncio
import logging
import unittest
from collections.abc import Container

from statewire import TODO, Backoff, Client
from statewire.liveness import Liveness

from .support import Proxy, Server, run

SOON = Backoff(base=0.01, maximum=0.1)


def beats(count: int, is_awaiting: bool = False, heard: Container[int] = ()) -> str:
    """Returns the decision of each beat; `heard` are the beats before which a message arrives."""
    liveness = Liveness()
    happens = []
    for beat in range(count):
        if beat in heard:
            liveness.received()
        happens.append(liveness.beat(is_awaiting))
    return " ".join(happens)


class LivenessTests(unittest.TestCase):
    def setUp(self) -> None:
        logging.disable(logging.WARNING)

    def tearDown(self) -> None:
        logging.disable(logging.NOTSET)

    def test_idle_server_is_pinged_then_disconnected(self) -> None:
        self.assertEqual(beats(7), "wait wait wait ping wait wait dead")

    def test_server_with_pending_response_is_pinged_sooner(self) -> None:
        self.assertEqual(beats(5, is_awaiting=True), "wait ping wait wait dead")

    def test_any_message_resets_the_silence(self) -> None:
        self.assertEqual(beats(8, heard=[3]), "wait wait wait wait wait wait ping wait")
        self.assertEqual(beats(8, heard=[6]), "wait wait wait ping wait wait wait wait")

    def test_half_open_connection_is_detected(self) -> None:
        for wire, scheme in (("--tcp", "tcp"), ("--web", "ws")):
            with self.subTest(wire):
                run(self.vanish(wire, scheme))

    async def vanish(self, wire: str, scheme: str) -> None:
        async with (
            await Server.start(listen=(wire, "127.0.0.1:0")) as server,
            await Proxy.start(server, "--delay", "0.01", "--jitter", "0", script="slow-proxy") as proxy,
        ):
            # The timeout of requests is too long to detect it.
            url = f"{scheme}://{proxy.address}"
            async with Client(
                url, backoff=SOON, ping_interval=0.2, timeout=3600, verify_interval=None
            ) as client:
                store = await client.open(TODO, "list", {"memory": {"count": 0}})
                await store.send({"type": "stateRequested"})
                await proxy.vanish()
                while client.reconnects < 1:
                    await asyncio.sleep(0.001)
                self.assertTrue(await store.verify())

                await proxy.vanish()
                await store.send({"type": "todoAdded", "title": "Milk"})
                self.assertEqual(client.reconnects, 2)
                state = store.state
                assert state["type"] == "content"
                self.assertEqual([todo["title"] for todo in state["todos"]], ["Milk"])


if __name__ == "__main__":
    unittest.main()

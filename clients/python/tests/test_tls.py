# SPDX-License-Identifier: Apache-2.0
"""TLS with a generated certificate."""

from __future__ import annotations

import asyncio
import logging
import os
import ssl
import subprocess
import unittest

from statewire import TODO, Client, ConnectionLostError

from .support import Server, folder, run


class TLSTests(unittest.TestCase):
    def setUp(self) -> None:
        logging.disable(logging.WARNING)

    def tearDown(self) -> None:
        logging.disable(logging.NOTSET)

    def test_over_tls(self) -> None:
        async def test() -> None:
            with folder() as data:
                certificate, key = os.path.join(data, "certificate"), os.path.join(data, "key")
                making = await asyncio.create_subprocess_exec(
                    "openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2",
                    "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1",
                    "-keyout", key, "-out", certificate, stderr=subprocess.DEVNULL)
                self.assertEqual(await making.wait(), 0)
                trusting = ssl.create_default_context(cafile=certificate)
                tls = ("--tls-cert", certificate, "--tls-key", key)
                for scheme, listen in (("tls", "--tcp"), ("wss", "--web")):
                    with self.subTest(scheme):
                        async with await Server.start(*tls, listen=(listen, "127.0.0.1:0")) as server:
                            address = f"{scheme}://{server.address.rpartition('/')[2]}"
                            async with Client(address, tls=trusting) as client:
                                store = await client.open(TODO, "list", {"memory": {"count": 1000}})
                                await store.send({"type": "stateRequested"})
                                self.assertTrue(await store.verify())
                            with self.assertRaises(ConnectionLostError) as caught:
                                await Client(address).connect()
                            self.assertIsInstance(caught.exception.__cause__, ssl.SSLError)

        run(test())


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: Apache-2.0
"""Values of all types that docs/reference/types.md lists: they arrive and return unchanged.

TYPES_SERVER: the program Tests/TypesServer (beside the program under test).
"""

from __future__ import annotations

import base64
import datetime
import decimal
import os
import pathlib
import unittest
import uuid

from statewire import Client

from .support import PROGRAM, run

TYPES_SERVER = os.environ.get("TYPES_SERVER") or str(pathlib.Path(PROGRAM).with_name("TypesServer"))


class TypesTests(unittest.TestCase):
    def test_return_unchanged(self) -> None:
        async def test() -> None:
            async with Client([TYPES_SERVER, "serve"]) as client:
                store = await client.open("types")
                for echo in range(1, 4):
                    await store.send({"type": "echoed", "values": store.state["values"]})
                    self.assertEqual(store.state["sameEchoes"], echo)
                self.assertEqual(store.state["otherEchoes"], 0)
                self.assertTrue(await store.verify())

        run(test())

    def test_values_are_read_by_the_standard_library(self) -> None:
        async def test() -> None:
            async with Client([TYPES_SERVER, "serve"]) as client:
                values = (await client.open("types")).state["values"]
                # `fromisoformat` needs Python 3.11.
                self.assertEqual(
                    datetime.datetime.strptime(values["date"], "%Y-%m-%dT%H:%M:%S.%f%z"),
                    datetime.datetime(2026, 11, 26, 10, 50, 19, 250_000, datetime.timezone.utc))
                self.assertEqual(
                    decimal.Decimal(values["decimal"]), decimal.Decimal("-12345678901234567.89"))
                self.assertEqual(
                    decimal.Decimal(values["duration"]), decimal.Decimal("1.500000000000000001"))
                self.assertEqual(base64.b64decode(values["data"]), bytes([0, 1, 254, 255]))
                self.assertEqual(
                    uuid.UUID(values["uuid"]), uuid.UUID("E621E1F8-C36C-495A-93FC-0C247A3E6E5F"))
                self.assertEqual(int(values["int128"]), -(2**127))

        run(test())

    def test_changed_values_are_detected(self) -> None:
        async def test() -> None:
            async with Client([TYPES_SERVER, "serve"]) as client:
                store = await client.open("types")
                values = {**store.state["values"], "duration": "1.5"}
                await store.send({"type": "echoed", "values": values})
                self.assertEqual(store.state["otherEchoes"], 1)

        run(test())

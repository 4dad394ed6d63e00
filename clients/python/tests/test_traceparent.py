# SPDX-License-Identifier: Apache-2.0
"""An input belongs to the trace of its caller."""

from __future__ import annotations

import unittest

from statewire import TODO, Backoff, Client

from .support import run
from .test_limits import Stand

SPAN = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


class TraceparentTests(unittest.TestCase):
    def test_resent_input_keeps_its_span(self) -> None:
        async def test() -> None:
            soon = Backoff(base=0.01, maximum=0.1)
            async with Stand() as stand, Client(stand.url, backoff=soon) as client:
                todo = await client.open(TODO)
                on_input, stand.respond = stand.respond, lambda message, size: None
                sent = todo.post({"type": "stateRequested"}, traceparent=SPAN)
                await stand.received(1)
                stand.respond = on_input
                assert stand.writer is not None
                stand.writer.close()
                await sent
                await todo.send({"type": "stateRequested"}, traceparent=SPAN)
                await todo.send({"type": "stateRequested"})
                spans = [message["params"].get("traceparent") for message in stand.inputs]
                self.assertEqual(spans, [SPAN, SPAN, SPAN, None])

        run(test())

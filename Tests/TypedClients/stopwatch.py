# SPDX-License-Identifier: Apache-2.0
"""A client of Examples/Stopwatch with generated types."""

import asyncio
import sys

from statewire import Client
from stopwatch_types import STOPWATCH, StopwatchInput, StopwatchInputs, StopwatchState


def wrong(state: StopwatchState) -> StopwatchInput:
    """Never called: what the types do not allow."""
    state["seconds"] = state["minutes"]  # type: ignore[typeddict-item]
    return {"type": "eaten"}  # type: ignore[return-value, misc]


async def main() -> None:
    async with Client(sys.argv[1]) as client:
        stopwatch = await client.open(STOPWATCH)
        await stopwatch.send(StopwatchInputs.start_tapped())
        state: StopwatchState = await stopwatch.wait_until(
            lambda state: state["isRunning"] and state["seconds"] > 0, timeout=20)
        assert state["seconds"] > 0
        await stopwatch.send(StopwatchInputs.stop_tapped(), settle=True)
        assert not stopwatch.state["isRunning"]
    print("ok")


asyncio.run(main())

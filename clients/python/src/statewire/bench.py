# SPDX-License-Identifier: Apache-2.0
"""Measures the client: sends inputs one after the other and applies the patches to a list.

    python -m statewire.bench [--inputs 10000] [--todos 1000] [--rounds 5] tcp://HOST:PORT | COMMAND…
"""

from __future__ import annotations

import argparse
import asyncio
import time

from .client import Client
from .kinds import TODO
from .types import TodoInput


def inputs(count: int, todos: int) -> list[TodoInput]:
    """Makes inputs that rename, move, add and remove todos all over the list; its length stays about the
    same.
    """
    made: list[TodoInput] = []
    for number in range(count):
        place = str(number * 7919 % todos + 1)
        if number % 10 == 8:
            made.append({"type": "todoAdded", "title": f"added {number}"})
        elif number % 10 == 9:
            made.append({"type": "todoRemoved", "id": str(todos + number // 10 + 1)})
        elif number % 2:
            made.append({"type": "todoRenamed", "id": place, "title": f"renamed {number}"})
        else:
            made.append({"type": "todoMoved", "id": place, "before": str(number % todos + 1)})
    return made


async def measure(address: str | list[str], count: int, todos: int, rounds: int) -> None:
    """Prints the time of each round. After each round the state is verified."""
    async with Client(address) as client:
        for number in range(rounds):
            store = await client.open(TODO, f"bench {number}", {"memory": {"count": todos}})
            await store.send({"type": "stateRequested"})
            before, seen = store.revision, 0

            async def draw() -> None:
                nonlocal seen
                async for _ in store:  # noqa: B023
                    seen += 1

            drawing = asyncio.create_task(draw())
            made = inputs(count, todos)
            begin, begin_cpu = time.perf_counter(), time.process_time()
            for value in made:
                await client.drain()
                response = store.post(value)
            await response
            seconds, cpu = time.perf_counter() - begin, time.process_time() - begin_cpu
            drawing.cancel()
            if not await store.verify() or store.resyncs:
                raise SystemExit("the replica differs from the server's state")
            print(
                f"{count} inputs, {store.revision - before} patches to a list of {todos}: {seconds:.2f} s, "
                f"{cpu:.2f} s of client CPU time; {seen} states drawn")
            await store.unsubscribe()
            await client.request("store/close", {"store": store.name})


def main() -> None:
    """Runs the command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--inputs", type=int, default=10_000)
    parser.add_argument("--todos", type=int, default=1_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("address", nargs="+", help="the address of the server, or the command that starts it")
    options = parser.parse_args()
    address = options.address
    asyncio.run(measure(
        address[0] if "://" in address[0] else address, options.inputs, options.todos, options.rounds))


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: Apache-2.0
"""A client of the chaos run with the Python client of the project; the settings are a JSON text in the first argument.

The library reconnects and sends inputs again by itself. All messages are recorded between the library and its
transport. After a line of input it stops to send, and prints a line when it has all results; at the end of its input it
records what the library shows.
"""

import asyncio
import json
import os
import random
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "clients/python/src"))

import statewire.connection
from history import Recorder
from load import Load, stores
from statewire import Backoff, Client, StatewireError


class Tap:
    """Records the messages between a connection of the library and its transport."""

    def __init__(self, recorder, address, receiver):
        self.recorder, self.receiver = recorder, receiver
        self.connection = recorder.opened(address)

    def received(self, message):
        self.recorder.received(self.connection, message)
        self.receiver.received(message)

    def ended(self, reason):
        self.recorder.closed(self.connection, str(reason))
        self.receiver.ended(reason)

    def send(self, message):
        self.recorder.sent(self.connection, message)
        self.transport.send(message)

    def __getattr__(self, name):
        return getattr(self.transport, name)


def tap(recorder):
    """Lets all connections of the library be recorded."""
    open_transport = statewire.connection.open_transport

    async def opened(address, receiver, *others):
        between = Tap(recorder, address, receiver)
        between.transport = await open_transport(address, between, *others)
        return between

    statewire.connection.open_transport = opened


async def work(settings, stopping, ending):
    name, chosen = settings["name"], random.Random(settings["seed"])
    recorder = Recorder(settings["folder"], name)
    recorder.event("started", settings=settings)
    tap(recorder)
    load, futures = Load(name, settings["seed"]), set()
    async with Client(
        settings["addresses"][0], session=settings["session"], frontend=name, retry_initial_connection=True,
        timeout=5, ping_interval=4, verify_interval=10, backoff=Backoff(base=0.1, maximum=2),
    ) as client:
        opened = {store: await client.open(kind, store, config) for store, (kind, config) in stores(name).items()}
        while not stopping.is_set():
            if len(futures) < 32:
                store, value, settle = load.next({store: held.state for store, held in opened.items()})
                future = opened[store].post(value, settle=settle)
                futures.add(future)
                future.add_done_callback(lambda future: ended(future, futures, recorder))
            await asyncio.sleep(chosen.uniform(0, 2 * settings["pause"]))
        while futures and not ending.is_set():
            await asyncio.sleep(0.1)
        print("idle", flush=True)
        await ending.wait()
        recorder.event("shown", session=client.session, at_end=True, resyncs=sum(
            held.resyncs.total() for held in opened.values()),
            stores={store: held.state for store, held in opened.items() if store != "balance"})
        return 1 if futures else 0


def ended(future, futures, recorder):
    futures.discard(future)
    error = future.exception()
    if isinstance(error, StatewireError):
        recorder.event("failed", error=repr(error))
    elif error is not None:
        raise error


async def main():
    stopping, ending = asyncio.Event(), asyncio.Event()
    working = asyncio.ensure_future(work(json.loads(sys.argv[1]), stopping, ending))

    async def read_commands():
        loop = asyncio.get_running_loop()
        await loop.run_in_executor(None, sys.stdin.readline)
        stopping.set()
        await loop.run_in_executor(None, sys.stdin.read)
        ending.set()

    await asyncio.wait([working, asyncio.ensure_future(read_commands())], return_when=asyncio.FIRST_COMPLETED)
    return await working


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))

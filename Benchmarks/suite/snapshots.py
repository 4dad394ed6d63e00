# SPDX-License-Identifier: Apache-2.0
"""A frontend that repeatedly requests a large state, and sends a request of the same size."""

import json
import multiprocessing
import os
import socket
import time

from machine import OTHER_CORE, Failure, processor_seconds


class Frontend:
    def __init__(self, port, count):
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.buffer = bytearray(1 << 20)
        self.ask("store/open", store="todo", kind="todo", config={"memory": {"count": count}})
        self.ask("store/send", store="todo", input={"type": "stateRequested"})
        state = json.loads(self.ask("store/subscribe", store="todo"))["result"]["state"]
        if len(state["todos"]) != count:
            raise Failure(f"a snapshot has {len(state['todos'])} todos of {count}")
        # The server reads and ignores members that a method does not know.
        self.text = request("ping", state=state)

    def exchange(self, data):
        """Sends a request and returns the bytes of its response; no other frame may arrive."""
        self.socket.sendall(data)
        parts = []
        while True:
            count = self.socket.recv_into(self.buffer)
            if count == 0:
                raise Failure("the server has closed the connection of the snapshots")
            parts.append(bytes(self.buffer[:count]))
            if parts[-1].endswith(b"\n"):
                return b"".join(parts)

    def ask(self, method, **params):
        response = self.exchange(request(method, **params))
        if b'"error"' in response[:100]:
            raise Failure(f"{method}: {response[:300]}")
        return response

    def snapshot(self):
        """Requests the state; returns the number of received bytes."""
        return len(self.ask("store/subscribe", store="todo"))

    def large_request(self):
        """Sends the large request; returns the number of sent bytes."""
        response = self.exchange(self.text)
        if b'"result"' not in response[:100]:
            raise Failure(f"ping: {response[:300]}")
        return len(self.text)


def request(method, **params):
    text = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params},
                      separators=(",", ":"))
    return text.encode() + b"\n"


def rate(server, exchange, seconds):
    """Returns the MB per second of the server's processor time."""
    exchange()
    count, used, end = 0, processor_seconds(server.pid), time.monotonic() + seconds
    while time.monotonic() < end:
        count += exchange()
    return count / (processor_seconds(server.pid) - used) / 1e6


def alone(server, count, seconds):
    """Returns the rates of writing snapshots and of reading requests of that size, in MB/s."""
    frontend = Frontend(server.port, count)
    rates = rate(server, frontend.snapshot, seconds), rate(server, frontend.large_request, seconds)
    frontend.socket.close()
    return rates


def ask_on(port, count, begun, exchanges):
    # The generator measures on this core and has priority.
    os.sched_setaffinity(0, {OTHER_CORE})
    os.setpriority(os.PRIO_PROCESS, 0, 19)
    frontend = Frontend(port, count)
    begun.set()
    while True:
        frontend.snapshot()
        exchanges.value += 1
        frontend.large_request()
        exchanges.value += 1


class Asking:
    """Sends the requests in a separate process until `with` ends."""

    def __init__(self, server, count):
        self.begun, self.counter = multiprocessing.Event(), multiprocessing.Value("i", 0, lock=False)
        self.process = multiprocessing.Process(
            target=ask_on, args=(server.port, count, self.begun, self.counter), daemon=True)

    def __enter__(self):
        self.process.start()
        if not self.begun.wait(60):
            raise Failure("no snapshot within a minute")
        return self

    def __exit__(self, *_):
        is_alive = self.process.is_alive()
        self.exchanges = self.counter.value
        self.process.terminate()
        self.process.join()
        if not is_alive:
            raise Failure("the process that requests snapshots has ended")

# SPDX-License-Identifier: Apache-2.0
"""Clients that keep a server busy while a test breaks something, and the check of the responses that they got.

Each client numbers its inputs, has several of them under way, and resumes after a lost connection with the handle of its
session and the sequences of its inputs. The program keeps for each client which numbers it has applied.
"""

import threading
import time
from collections.abc import Callable

from .client import Client, RPCError
from .server import Server

#: The program. The state of a client: the last number, the numbers below it that have not come, the numbers that have
#: come again, and how many inputs and delayed actions it has applied.
COUNTING = """
VERSION = 1
states = {}

def on_describe(params):
    return {"protocol": 1, "version": VERSION}

def on_open(params):
    states[params["store"]] = {"version": VERSION, "clients": {}}
    return {"state": states[params["store"]]}

def on_restore(params):
    state = states[params["store"]] = params["state"]
    if state["version"] != params["version"]:
        raise Failure("the state has another version")
    if state["version"] == VERSION:
        return {}
    state["version"] = VERSION
    return {"state": state}

def on_input(params):
    name, number = params["viewer"]["frontend"], params["input"]["n"]
    mine = states[params["store"]]["clients"].setdefault(
        name, {"last": 0, "missing": [], "again": [], "applied": 0, "acted": 0})
    count(mine, number)
    return changed(name, mine, effects=[{"type": "after", "milliseconds": 20, "action": name}])

def count(mine, number):
    mine["applied"] += 1
    if number <= mine["last"]:
        mine["again"].append(number)
    mine["missing"] += range(mine["last"] + 1, number)
    mine["last"] = max(mine["last"], number)

def on_action(params):
    mine = states[params["store"]]["clients"][params["action"]]
    mine["acted"] += 1
    return changed(params["action"], mine)

def changed(name, mine, **more):
    return {"patch": [{"op": "add", "path": "/clients/" + name, "value": mine}], **more}
"""


class BusyClient(threading.Thread):
    """A client that pipelines inputs until `is_finishing` is true."""

    #: The number of inputs without a response.
    WINDOW = 8

    def __init__(self, load: "Load", session: str, name: str) -> None:
        super().__init__(daemon=True)
        self.load, self.session, self.name = load, session, name
        #: The number of the server to which it connects last.
        self.next = ord(name)
        self.last = 0
        #: The inputs without a response, with the times and the runs of the server at which they were sent first.
        self.waiting: dict[int, tuple[float, int]] = {}
        #: The inputs by their outcomes. The response to a repeat does not show whether an earlier run of the server has
        #: refused the input.
        self.applied: set[int] = set()
        self.refused: set[int] = set()
        self.unclear: set[int] = set()
        #: The inputs that were sent again.
        self.repeated: set[int] = set()
        #: The times at which inputs were sent first, and at which they got their responses.
        self.times: list[tuple[float, float]] = []
        self.connections = 0
        self.is_finishing = False

    def run(self) -> None:
        while self.waiting or not self.is_finishing:
            try:
                client = self.connect()
            except OSError:
                time.sleep(0.02)
                continue
            try:
                self.converse(client)
            except (OSError, ValueError, RPCError):
                # The server was killed, within a line or while it read the session.
                time.sleep(0.02)
            finally:
                client.abandon()

    def connect(self) -> Client:
        """Connects to the next server."""
        self.next += 1
        return self.load.servers[self.next % len(self.load.servers)].client()

    def converse(self, client: Client) -> None:
        last = client.call("session/attach", session=self.session, frontend=self.name, revisions={})["sequence"]
        self.connections += 1
        numbers: dict[int, int] = {}

        def send(sequence: int) -> None:
            numbers[client.send("store/send", store="k", input={"n": sequence}, sequence=sequence)] = sequence

        for sequence in sorted(self.waiting):
            self.repeated.add(sequence)
            send(sequence)
        while numbers or not self.is_finishing:
            while len(numbers) < self.WINDOW and not self.is_finishing:
                self.last += 1
                self.waiting[self.last] = time.monotonic(), self.load.run
                send(self.last)
            response = client.read()
            if "method" in response:
                continue
            sequence = numbers.pop(response["id"])
            sent, run = self.waiting.pop(sequence)
            self.times.append((sent, time.monotonic()))
            if "error" in response:
                if response["error"]["code"] != -32603:
                    raise AssertionError(f"{self.name}: {response}")
                self.refused.add(sequence)
            elif sequence <= last and self.load.disturbed & set(range(run, self.load.run)):
                self.unclear.add(sequence)
            else:
                self.applied.add(sequence)
            # A program that waits for its restart refuses inputs immediately.
            time.sleep(0.05 if "error" in response else 0.004)

    def faults(self, counted: dict) -> list[str]:
        """Compares the responses with the state that the program has kept for this client."""
        kept = set(range(1, counted["last"] + 1)) - set(counted["missing"])
        lost, undone = sorted(self.applied - kept), sorted(self.refused & kept)
        unknown = set(range(1, self.last + 1)) - self.applied - self.refused - self.unclear
        return [
            f"{self.name}: {text}: {found}"
            for text, found in {
                "inputs that were applied twice": counted["again"],
                "inputs that have a response and are lost": lost,
                "inputs that were refused and are applied": undone,
                "inputs without a response": sorted(unknown),
                "numbers of applied inputs and of kept ones": []
                if counted["applied"] == len(kept) else [counted["applied"], len(kept)],
                "numbers of inputs and of their delayed actions": []
                if counted["acted"] == counted["applied"] else [counted["applied"], counted["acted"]],
            }.items()
            if found
        ]


class Load:
    """Five clients in three sessions of a server, or of several nodes."""

    def __init__(self, *servers: Server) -> None:
        self.servers = servers
        #: The number of the run of the server, and the runs in which the program was killed: it then refuses inputs,
        #: and the server may end before the client knows.
        self.run, self.disturbed = 0, set[int]()
        self.clients: list[BusyClient] = []
        for names in ("ab", "cd", "e"):
            opening = servers[0].client()
            session = opening.call("session/open", frontend=names[0])["session"]
            self.clients += [BusyClient(self, session, name) for name in names]
            opening.close()
        for client in self.clients:
            client.start()

    def finish(self, seconds: float = 120) -> None:
        """Sends no more inputs, and waits for the responses."""
        for client in self.clients:
            client.is_finishing = True
        for client in self.clients:
            client.join(seconds)
            if client.is_alive():
                raise TimeoutError(f"{client.name} waits for the responses to {sorted(client.waiting)}")

    def state(self, client: BusyClient) -> dict:
        """The state of the store of a client."""
        reader = self.servers[0].client()
        try:
            reader.call("session/attach", session=client.session, frontend="reader", role="observer", revisions={})
            return reader.state("k")
        finally:
            reader.close()

    def counted(self, client: BusyClient) -> dict:
        """The state that the program has kept for a client."""
        return self.state(client)["clients"][client.name]

    def settle(self, quiet: float = 1) -> None:
        """Waits until all delayed actions have come, or the program has changed nothing for some seconds."""
        states, changed = None, time.monotonic()
        while time.monotonic() < changed + quiet:
            before, states = states, [self.counted(client) for client in self.clients]
            if all(state["acted"] == state["applied"] for state in states):
                return
            if states != before:
                changed = time.monotonic()
            time.sleep(0.1)

    def faults(self) -> list[str]:
        return [fault for client in self.clients for fault in client.faults(self.counted(client))]

    def applies(self, more: int) -> Callable[[], bool]:
        """Returns a condition: more inputs have been applied."""
        goal = self.total("applied") + more
        return lambda: self.total("applied") >= goal

    def total(self, name: str) -> int:
        return sum(len(getattr(client, name)) for client in self.clients)

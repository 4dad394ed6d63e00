# SPDX-License-Identifier: Apache-2.0
"""A client of the chaos run on plain sockets; the settings are a JSON text in the first argument.

It reconnects with backoff over a list of addresses, resumes its session and sends inputs without a response again.
Now and then it resets its own connection, also with requests open, or attaches without a revision. With `sleeps` it
moves between several sessions, opens new ones, and leaves all of them for some seconds, so that they sleep.

After a line of input it stops to send, and prints a line when it has all responses; at the end of its input it ends.
"""

import json
import random
import sys
import threading
import time
from dataclasses import dataclass, field

import states
import wires
from history import Recorder
from load import Load, stores

# Seconds of silence until a ping, and until the connection is given up.
QUIET, DEAD = 2, 5
# The greatest number of sessions of a client that sleeps.
SESSIONS = 8


@dataclass
class Place:
    """A session, and what the client holds of it."""

    session: str | None
    # The stores that are open and subscribed; replicas as (revision, state).
    ready: set = field(default_factory=set)
    replicas: dict = field(default_factory=dict)
    sequence: int = 0
    pending: dict = field(default_factory=dict)
    removing: dict = field(default_factory=dict)


class RawClient:
    def __init__(self, settings):
        self.name = settings["name"]
        self.place = Place(settings["session"])
        self.places = [self.place]
        self.framing = settings["framing"]
        self.addresses = [(host, port) for host, port in settings["addresses"]]
        self.pause, self.sleeps = settings["pause"], settings.get("sleeps", False)
        self.random = random.Random(settings["seed"])
        self.recorder = Recorder(settings["folder"], self.name)
        self.recorder.event("started", settings=settings)
        self.load = Load(self.name, settings["seed"])
        self.stores = stores(self.name)
        self.last_id = 0
        self.is_idle = False
        # No more inputs; the end.
        self.stopping, self.ending = threading.Event(), threading.Event()

    def run(self):
        failures = 0
        while not self.ending.is_set():
            began = time.monotonic()
            self.choose_place()
            try:
                self.connect_once(self.addresses[failures % len(self.addresses)])
            except wires.Ended as ended:
                self.recorder.event("closed", connection=self.connection, reason=str(ended))
            failures = 0 if time.monotonic() - began > 1 else failures + 1
            if self.sleeps and not self.stopping.is_set():
                self.stopping.wait(self.random.uniform(3, 8))
            time.sleep(min(2, 0.1 * 2 ** failures) * self.random.uniform(0.5, 1))
        return 1 if any(place.pending for place in self.places) else 0

    def choose_place(self):
        """Chooses a session: at the end, one with inputs that have no response."""
        self.place = self.random.choice(self.places)
        if self.stopping.is_set():
            self.place = next((place for place in self.places if place.pending), self.place)
        elif self.sleeps and len(self.places) < SESSIONS and self.random.random() < 0.3:
            self.place = Place(None)
        self.load.removing = self.place.removing

    # One connection

    def connect_once(self, address):
        self.connection = self.recorder.opened(f"{self.framing} {address[0]}:{address[1]}")
        self.wire = wires.connect(self.framing, address, DEAD)
        self.open, self.heard, self.pinged = {}, time.monotonic(), False
        is_abrupt = True
        try:
            # Often the client sends its inputs again without waiting for the response of `session/attach`.
            is_hasty = len(self.place.ready) == len(self.stores) and self.random.random() < 0.4
            if self.place.session is None:
                self.open_session()
            else:
                self.attach(is_hasty)
            if not is_hasty:
                self.prepare()
                self.resend()
            is_abrupt = self.work()
        finally:
            self.wire.close(is_abrupt)

    def open_session(self):
        def opened(result):
            self.place.session = result["session"]
            self.places.append(self.place)
        self.request("session/open", {"frontend": self.name}, opened)
        while self.place.session is None:
            self.receive(1)

    def attach(self, is_hasty):
        from_nothing = self.random.random() < 0.1
        revisions = {store: None if from_nothing or store not in self.place.replicas else self.place.replicas[store][0]
                     for store in self.place.ready}
        self.result = None
        self.request("session/attach", {"session": self.place.session, "frontend": self.name, "revisions": revisions},
                     self.attached)
        if is_hasty:
            self.resend()
        while self.result is None:
            self.receive(1)
        self.place.sequence = max(self.place.sequence, self.result["sequence"])

    def attached(self, result):
        self.result = result
        for store, outcome in result["stores"].items():
            if "snapshot" in outcome:
                self.place.replicas[store] = (outcome["snapshot"]["revision"], outcome["snapshot"]["state"])

    def prepare(self):
        for store, (kind, config) in self.stores.items():
            if store not in self.place.ready:
                self.request("store/open", {"store": store, "kind": kind, "config": config}, lambda _: None)
                self.subscribe(store)

    def subscribe(self, store):
        def subscribed(result):
            self.place.ready.add(store)
            self.place.replicas[store] = (result["revision"], result["state"])
        self.request("store/subscribe", {"store": store}, subscribed)

    def resend(self):
        for sequence in sorted(self.place.pending):
            self.send_input(sequence)

    def work(self):
        """Sends and receives; returns True to cut the connection off, False to close it."""
        leaving = time.monotonic() + self.random.uniform(2, 5) if self.sleeps else None
        following = time.monotonic()
        while not self.ending.is_set():
            now = time.monotonic()
            if self.stopping.is_set():
                if not self.place.pending and not self.is_idle:
                    if any(place.pending for place in self.places):
                        return False
                    self.is_idle = True
                    print("idle", flush=True)
            elif leaving is not None and now > leaving:
                if not self.place.pending:
                    return False
            elif now >= following and len(self.place.pending) < 32:
                self.burst()
                following = now + self.random.uniform(0, 2 * self.pause)
                if self.random.random() < 0.002:
                    return True
            self.receive(0.2 if self.stopping.is_set() else min(0.2, max(0, following - time.monotonic())))
        return False

    def burst(self):
        """Sends one input, or several in a row, or a batch; now and then it reads a state."""
        if self.random.random() < 0.03:
            self.request("store/state", {"store": self.random.choice(list(self.stores))}, lambda _: None)
        count = self.random.choices([1, 3, 8], [90, 7, 3])[0]
        sequences = []
        for _ in range(count):
            known = {store: state for store, (_, state) in self.place.replicas.items()}
            store, value, settle = self.load.next(known)
            sequence = self.place.sequence = self.place.sequence + 1
            self.place.pending[sequence] = {"store": store, "input": value, "sequence": sequence, "settle": settle}
            sequences.append(sequence)
        if count > 1 and self.random.random() < 0.5:
            self.write([self.input_request(sequence) for sequence in sequences])
        else:
            for sequence in sequences:
                self.send_input(sequence)

    # Messages

    def send_input(self, sequence):
        self.write(self.input_request(sequence))

    def input_request(self, sequence):
        def on_response(_):
            self.place.pending.pop(sequence, None)
        return self.message("store/send", self.place.pending[sequence], on_response)

    def request(self, method, params, on_response):
        self.write(self.message(method, params, on_response))

    def message(self, method, params, on_response):
        self.last_id += 1
        self.open[self.last_id] = (method, on_response)
        return {"jsonrpc": "2.0", "id": self.last_id, "method": method, "params": params}

    def write(self, message):
        text = json.dumps(message, ensure_ascii=False)
        self.recorder.sent(self.connection, text)
        self.wire.send(text)

    def receive(self, seconds):
        texts = self.wire.receive(seconds)
        for text in texts:
            self.recorder.received(self.connection, text)
            message = json.loads(text)
            for single in message if isinstance(message, list) else [message]:
                self.take(single)
        silence = time.monotonic() - self.heard
        if texts:
            self.heard, self.pinged = time.monotonic(), False
        elif silence > DEAD:
            raise wires.Ended("the server is silent")
        elif silence > QUIET and not self.pinged:
            self.pinged = True
            self.request("ping", {}, lambda _: None)

    def take(self, message):
        if message.get("method") == "store/changed":
            self.changed(message["params"])
        elif "method" not in message and message.get("id") in self.open:
            method, on_response = self.open.pop(message["id"])
            if "result" in message:
                on_response(message["result"])
            else:
                self.refused(method, message["error"], on_response)

    def refused(self, method, error, on_response):
        # An input with an error that concerns itself is given up. All others are sent again over the next connection.
        if method != "store/send" or error["code"] in (-32800, -32603, -32013):
            raise wires.Ended(f"{method}: {error['code']} {error['message']}")
        on_response(None)

    def changed(self, params):
        store = params["store"]
        revision, state = self.place.replicas.get(store, (None, None))
        if revision != params["base"]:
            if revision is not None:
                del self.place.replicas[store]
                self.subscribe(store)
            return
        state = params["state"] if "state" in params else states.patched(state, params["patch"])
        self.place.replicas[store] = (params["revision"], state)


def main():
    client = RawClient(json.loads(sys.argv[1]))

    def read_commands():
        sys.stdin.readline()
        client.stopping.set()
        sys.stdin.read()
        client.ending.set()

    threading.Thread(target=read_commands, daemon=True).start()
    return client.run()


if __name__ == "__main__":
    sys.exit(main())

# SPDX-License-Identifier: Apache-2.0
"""A small server and its clients, which write the histories for the tests of the checker.

The server keeps the guarantees. A test breaks one by changing the server between two messages, as a fault would:
it puts an earlier copy of it back, keeps two of them, or forgets what it has applied.
"""

import copy

import replay


class Server:
    """Sessions with lists, in memory and shared, that deduplicates inputs by sequence."""

    def __init__(self):
        self.lists = {}
        self.stores = {}
        self.sequences = {}
        # The number of updates per store that a client can be replayed.
        self.kept = 1000
        self.deduplicates = True

    def copy(self):
        return copy.deepcopy(self)

    def open(self, session, store, config):
        if (session, store) not in self.stores:
            model = replay.Model() if "memory" in config else self.lists.setdefault(config["list"], replay.Model())
            self.stores[session, store] = {"model": model, "revision": 0, "state": model.state(), "updates": []}

    def state(self, session, store):
        known = self.stores[session, store]
        return {"revision": known["revision"], "state": known["state"]}

    def take(self, session, frontend, sequence, store, value):
        """Applies an input; returns the result."""
        last = self.sequences.get((session, frontend), 0)
        if sequence <= last and self.deduplicates:
            return {"revision": self.stores[session, store]["revision"], "changed": False}
        self.sequences[session, frontend] = max(last, sequence)
        before = self.stores[session, store]["revision"]
        self.stores[session, store]["model"].take(value)
        for known in self.stores.values():
            self._publish(known)
        revision = self.stores[session, store]["revision"]
        return {"revision": revision, "changed": revision > before}

    def _publish(self, known):
        now = known["model"].state()
        if now == known["state"]:
            return
        known["updates"].append({"base": known["revision"], "revision": known["revision"] + 1,
                                 "patch": patch(known["state"], now)})
        known["revision"] += 1
        known["state"] = now

    def since(self, session, store, revision):
        """Returns the updates after a revision, or None if they are not kept."""
        known = self.stores[session, store]
        updates = [update for update in known["updates"][-self.kept:] if update["base"] >= revision]
        return updates if len(updates) == known["revision"] - revision else None


def patch(old, new):
    before, after = old.get("todos"), new.get("todos")
    if before is None or after is None:
        return [{"op": "replace", "path": "", "value": new}]
    if after[:-1] == before:
        return [{"op": "add", "path": f"/todos/{len(before)}", "value": after[-1]}]
    for at in range(len(before)):
        if before[:at] + before[at + 1:] == after:
            return [{"op": "remove", "path": f"/todos/{at}"}]
    return [{"op": "replace", "path": "/todos", "value": after}]


class Story:
    """The events of a history, one microsecond apart."""

    def __init__(self):
        self.events = []
        self.server = Server()

    def event(self, client, event, **members):
        self.events.append({"at": 1000 * len(self.events), "client": client, "event": event,
                            "place": f"story:{len(self.events) + 1}", **members})

    def client(self, name, session="S", **stores):
        return Client(self, name, session, stores)

    def audit(self, *clients):
        """Reads all states at the end, under the name of each client."""
        for client in clients:
            auditor = Client(self, "auditor", client.session, client.stores, client.frontend)
            auditor.attach(from_nothing=True)


class Client:
    """A client of one session, which holds nothing but revisions."""

    def __init__(self, story, name, session, stores, frontend=None):
        self.story, self.name, self.session, self.stores = story, name, session, stores
        self.frontend = frontend or name
        # The server that this client talks to.
        self.server = story.server
        self.connection = self.last_id = self.sequence = 0
        self.revisions = {}
        self.pending = {}

    def begin(self):
        """Attaches, opens the stores, shows and subscribes to them."""
        self.attach()
        for store, config in self.stores.items():
            self.call("store/open", {"store": store, "kind": "todo", "config": config})
            self.server.open(self.session, store, config)
            self.result({"revision": self.server.state(self.session, store)["revision"]})
            self.call("store/subscribe", {"store": store})
            state = self.server.state(self.session, store)
            self.result(state)
            self.revisions[store] = state["revision"]
            self.send(store, {"type": "stateRequested"})
        return self

    def connect(self):
        """Makes a connection."""
        self.connection = sum(event["event"] == "opened" for event in self.story.events) + 1
        self.story.event(self.name, "opened", connection=self.connection, address="simulated")

    def attach(self, from_nothing=False):
        self.connect()
        revisions = dict.fromkeys(self.stores) if from_nothing else dict(self.revisions)
        self.call("session/attach", {"session": self.session, "frontend": self.frontend, "revisions": revisions})
        outcomes, replayed = {}, []
        for store, revision in revisions.items():
            updates = None if revision is None else self.server.since(self.session, store, revision)
            if updates is None:
                outcomes[store] = {"snapshot": self.server.state(self.session, store),
                                   "reason": "none" if revision is None else "trimmed"}
                self.revisions[store] = self.server.state(self.session, store)["revision"]
            else:
                outcomes[store] = {"replayed": len(updates)}
                replayed += [(store, update) for update in updates]
        self.result({"stores": outcomes, "sequence": self.server.sequences.get((self.session, self.frontend), 0)})
        for store, update in replayed:
            self.update(store, update)

    def drop(self):
        self.story.event(self.name, "closed", connection=self.connection, reason="lost")

    def add(self, store, title, **how):
        return self.send(store, {"type": "todoAdded", "title": title}, **how)

    def send(self, store, value, arrives=True, responded=True, sequence=None, settle=False):
        """Sends an input, which the server applies if it arrives; returns the result."""
        if sequence is None:
            self.sequence += 1
            sequence = self.sequence
        self.pending[sequence] = (store, value)
        self.call("store/send", {"store": store, "input": value, "sequence": sequence, "settle": settle})
        if not arrives:
            return None
        result = self.server.take(self.session, self.frontend, sequence, store, value)
        if responded:
            self.receive()
            self.result(result)
            del self.pending[sequence]
        return result

    def resend(self):
        for sequence, (store, value) in sorted(self.pending.items()):
            self.send(store, value, sequence=sequence)

    def receive(self):
        """Receives the updates that were published since."""
        for store, revision in self.revisions.items():
            for update in self.server.since(self.session, store, revision) or []:
                self.update(store, update)

    def call(self, method, params):
        self.last_id += 1
        self.record("sent", {"id": self.last_id, "method": method, "params": params})

    def result(self, result):
        self.record("received", {"id": self.last_id, "result": result})

    def update(self, store, update):
        self.record("received", {"method": "store/changed", "params": {"store": store, **update, "applied": None}})
        self.revisions[store] = update["revision"]

    def record(self, event, message):
        self.story.event(self.name, event, connection=self.connection,
                         message=copy.deepcopy({"jsonrpc": "2.0", **message}))

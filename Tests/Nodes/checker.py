# SPDX-License-Identifier: Apache-2.0
"""Decides whether a history keeps the guarantees of PROTOCOL.md.

`check(events)` reads the events of a history (history.py) in the order of their times, and returns the violations,
each with the events that prove it, and a count of all that was compared. It follows each connection as a client
would, with its own patch application, and compares all clients of a session with each other:

| violation | meaning |
|---|---|
| two states | a revision of a store stands for two states, over all clients and over time |
| base | the base of an update is not the revision that the client holds |
| patch | an update does not apply, or the digest is not that of the state |
| goes back | a revision is not above its base, or lower than one that any client had received before the request |
| ahead | the server does not know a revision that it has sent: a commit is lost |
| early response | a response came before the update that belongs to it |
| forgotten sequence | `session/attach` returns a lower sequence than was confirmed, or one that was never sent |
| lost session | a session, or a store of it, is gone, or could not be read at the end |
| lost, applied twice, order, invented, lists differ | see lists.py and replay.py |
| wrong state | see forms.py |
| error | an error that no correct client should get |
| client | a library shows a state that is not the final one |
"""

import collections
import zlib

import forms
import history
import lists
import replay
import states
from record import UNKNOWN_OUTCOME, Connection, Input, Replica, Request, Response, Session, Violation

# The client that reads all states at the end.
AUDITOR = "auditor"
# Kinds whose stores begin again after a restart (docs/reference/stores.md, "After a restart").
TRANSIENT_KINDS = {"form"}
GONE = {-32012, -32013}
# Errors of attaching after which a client tries again: the journal cannot be read at the moment.
FOR_THE_MOMENT = {-32603}


def check(events):
    """Returns the violations of a history, and a counter of what was compared."""
    checker = Checker()
    for event in events:
        checker.read(event)
    return checker.finish(), checker.counts


class Checker:
    def __init__(self):
        self.violations = []
        self.counts = collections.Counter()
        self.sessions = {}
        self._connections = {}
        # What each client holds of each store, also between connections.
        self._held = {}
        self._shown = []

    def read(self, event):
        """Takes the next event."""
        kind = event["event"]
        if kind == "shown":
            self._shown.append(event)
        elif kind == "failed":
            self._report("error", f"a library gives an input up: {event['error']}", event)
        elif kind == "unreadable":
            self._report("error", "a message is not JSON", event)
        elif kind == "opened":
            self._connections[event["client"], event["connection"]] = Connection()
            self.counts["connections"] += 1
        elif kind in ("sent", "received"):
            connection = self._connections[event["client"], event["connection"]]
            take = self._sent if kind == "sent" else self._received
            for message in history.messages(event):
                take(connection, message, event)

    def finish(self):
        """Returns all violations, after the last event."""
        for session in self.sessions.values():
            for store in session.stores.values():
                if store.final is None and store.known >= 0:
                    self._report("lost session", f"store {store.name} was not read at the end", *_proof(store.proof))
                if store.kind == "todo" and replay.has_one_writer(session, store):
                    self.violations += replay.check(session, store, self.counts)
                elif store.kind == "todo":
                    self.violations += lists.check_store(self.sessions.values(), session, store, self.counts)
                elif store.kind in forms.KINDS:
                    self.violations += forms.check(session, store, self.counts)
        self.violations += lists.check_shared(self.sessions.values(), self.counts)
        self._check_shown()
        return self.violations

    def _report(self, kind, text, *events):
        self.violations.append(Violation(kind, text, [event for event in events if event is not None]))

    # Messages of clients

    def _sent(self, connection, message, event):
        method, params = message.get("method"), message.get("params") or {}
        request = Request(event, method, params)
        session = connection.session
        if method == "session/attach":
            session = self.sessions.setdefault(params["session"], Session(params["session"]))
            request.known = {name: (store.known, store.proof) for name, store in session.stores.items()}
            # A client may send more without waiting for the response.
            connection.session, connection.frontend = session, params.get("frontend")
            connection.is_outside = False
        elif "store" in params and session is not None:
            store = session.store(params["store"])
            request.known = {store.name: (store.known, store.proof)}
            if method == "store/open":
                store.kind, store.config = params["kind"], params.get("config") or {}
            elif method == "store/send":
                self._input_sent(connection, request, store)
        if "id" in message:
            connection.open[message["id"]] = request

    def _input_sent(self, connection, request, store):
        params, session = request.params, connection.session
        if store.kind is None:
            store.kind = store.name
        sequence = params.get("sequence")
        if sequence is None:
            return
        inputs = session.frontend(connection.frontend).inputs
        entry = inputs.setdefault(sequence, Input(
            session.handle, connection.frontend, sequence, store.name, params["input"]))
        if (entry.store, entry.value) != (store.name, params["input"]):
            self._report("client", f"sequence {sequence} is used for two inputs", entry.sent[0], request.event)
        entry.sent.append(request.event)
        request.entry, request.is_first = entry, len(entry.sent) == 1
        self.counts["inputs sent"] += 1

    # Messages of the server

    def _received(self, connection, message, event):
        method = message.get("method")
        if connection.is_outside:
            return
        if method == "store/changed":
            self._changed(connection, message["params"], event)
        elif method == "store/closed" or (
                method == "session/closed" and message["params"]["reason"] == "closed"):
            self._report("lost session", "the server has closed a store or a session", event)
        elif method is None:
            request = connection.open.pop(message.get("id"), None)
            if request is None:
                self.counts["errors without a request"] += 1
            elif "error" in message:
                self._refused(connection, request, message["error"], event)
            else:
                self._succeeded(connection, request, message["result"], event)

    def _refused(self, connection, request, error, event):
        if request.entry is not None:
            self._add_response(request, None, error, event)
        self.counts[f"error {error['code']} of {request.method}"] += 1
        # Requests that follow have reached the session of the connection, which ends with it.
        connection.is_outside |= request.method == "session/attach"
        if error["code"] in GONE:
            self._report("lost session", f"{request.method}: {error['message']}", request.event, event)
        elif error["code"] not in UNKNOWN_OUTCOME and not (
                error["code"] in FOR_THE_MOMENT and request.method.startswith("session/")):
            self._report("error", f"{request.method}: {error['message']}", request.event, event)

    def _succeeded(self, connection, request, result, event):
        method, params = request.method, request.params
        if method == "session/open":
            handle = result["session"]
            connection.session = self.sessions.setdefault(handle, Session(handle))
            connection.frontend = params.get("frontend")
        elif method == "session/attach":
            self._attached(connection, request, result, event)
        elif method == "store/subscribe":
            self._whole_state(connection, request, params["store"], result, event)
        elif method == "store/state":
            name = params["store"]
            if zlib.crc32(states.canonical(result["state"]).encode()) != result["digest"]:
                self._report("patch", f"the digest of store {name} is not that of its state", event)
            self._read(connection.session, name, request, result["revision"], event)
            self._record(connection.session.store(name), result["revision"], result["state"], event)
        elif method == "store/open":
            self._read(connection.session, params["store"], request, result["revision"], event)
        elif method == "store/unsubscribe":
            connection.replicas.pop(params["store"], None)
        elif method == "store/send":
            self._input_succeeded(connection, request, result, event)

    def _attached(self, connection, request, result, event):
        params = request.params
        session = connection.session
        connection.replicas = {}
        self.counts["attached"] += 1
        if connection.frontend is not None:
            self._check_sequence(session.frontend(connection.frontend), result["sequence"], event)
        for name, outcome in result["stores"].items():
            store = session.store(name)
            if "keptAside" in outcome or "closed" in outcome:
                self._report("lost session", f"store {name} has lost its state", request.event, event)
            if "snapshot" in outcome:
                reason = outcome["reason"]
                self.counts[f"snapshot, {reason}"] += 1
                if reason == "ahead":
                    self._report("ahead", f"the server does not know revision {params['revisions'][name]} of {name}",
                                 *_proof(store.proof), request.event, event)
                elif reason == "reopened" and store.kind not in TRANSIENT_KINDS:
                    self._report("lost session", f"store {name} was opened again", request.event, event)
                self._whole_state(connection, request, name, outcome["snapshot"], event)
            elif "replayed" in outcome:
                self._replays(connection, request, store, outcome["replayed"], event)

    def _check_sequence(self, frontend, sequence, event):
        last = max(frontend.inputs, default=0)
        if sequence < frontend.confirmed:
            self._report("forgotten sequence", f"the last sequence is {sequence}, and {frontend.confirmed} was "
                         "confirmed", frontend.proof, event)
        elif sequence > last:
            self._report("forgotten sequence", f"the last sequence is {sequence}, and {last} is the last one sent",
                         event)
        frontend.confirm(sequence, event)

    def _replays(self, connection, request, store, count, event):
        self.counts["replays"] += 1
        self.counts["replayed updates"] += count
        held = self._held.get((event["client"], connection.session.handle, store.name))
        revision = request.params["revisions"][store.name]
        if held is None or held.revision != revision or held.has_diverged:
            # The client has named another revision than it holds; the next whole state counts.
            held = Replica(revision, None, has_diverged=True)
        replica = Replica(held.revision, held.state, held.has_diverged, replays=count,
                          due=request.known.get(store.name, (-1, None)))
        self._hold(connection, store, replica, event)
        self._check_replayed(store, replica, event)

    def _check_replayed(self, store, replica, event):
        due, proof = replica.due
        if replica.replays == 0 and not replica.has_diverged and replica.revision < due:
            self._report("goes back", f"a replay of {store.name} ends at revision {replica.revision}, and revision "
                         f"{due} was known", *_proof(proof), event)

    def _whole_state(self, connection, request, name, given, event):
        store = connection.session.store(name)
        self._read(connection.session, name, request, given["revision"], event)
        self._hold(connection, store, Replica(given["revision"], given["state"]), event)
        self._record(store, given["revision"], given["state"], event)

    def _hold(self, connection, store, replica, event):
        connection.replicas[store.name] = replica
        self._held[event["client"], connection.session.handle, store.name] = replica

    def _changed(self, connection, params, event):
        name = params["store"]
        replica = connection.replicas.get(name)
        if replica is None:
            self._report("base", f"an update of {name} to a client that is not subscribed", event)
            return
        self.counts["updates"] += 1
        store = connection.session.store(name)
        if replica.has_diverged:
            return
        if params["base"] != replica.revision:
            replica.has_diverged = True
            self._report("base", f"the client holds revision {replica.revision} of {name}, and the update is for "
                         f"{params['base']}", *_proof(store.seen.get(replica.revision, (0, None))[1]), event)
            return
        if params["revision"] <= params["base"]:
            self._report("goes back", f"revision {params['revision']} of {name} follows {params['base']}", event)
        try:
            replica.state = params["state"] if "state" in params else states.patched(replica.state, params["patch"])
        except (states.PatchError, KeyError, TypeError) as error:
            replica.has_diverged = True
            self._report("patch", f"an update of {name} does not apply: {error}", event)
            return
        replica.revision = params["revision"]
        self._record(store, replica.revision, replica.state, event)
        if replica.replays:
            replica.replays -= 1
            self._check_replayed(store, replica, event)

    def _input_succeeded(self, connection, request, result, event):
        name, revision = request.params["store"], result["revision"]
        self._read(connection.session, name, request, revision, event)
        connection.session.store(name).learn(revision, event)
        replica = connection.replicas.get(name)
        if replica is not None and not replica.has_diverged and replica.revision < revision:
            self._report("early response", f"the response is of revision {revision} of {name}, and the client holds "
                         f"{replica.revision}", request.event, event)
        if request.entry is not None:
            self._add_response(request, result, None, event)
            connection.session.frontend(connection.frontend).confirm(request.entry.sequence, event)

    def _add_response(self, request, result, error, event):
        self.counts["responses to inputs"] += 1
        self.counts["responses to repeats"] += not request.is_first
        request.entry.responses.append(Response(
            event, result, error, request.is_first, bool(request.params.get("settle"))))

    # States and revisions

    def _read(self, session, name, request, revision, event):
        """Compares the revision of a response with what was known when the request was sent."""
        known, proof = request.known.get(name, (-1, None))
        if revision < known:
            self._report("goes back", f"the response is of revision {revision} of {name}, and {known} was known before "
                         "the request", *_proof(proof), request.event, event)

    def _record(self, store, revision, state, event):
        now = states.compact(state)
        known = store.seen.setdefault(revision, (now, event))
        if known[1] is not event:
            self.counts["states compared"] += 1
        if known[0] != now:
            self._report("two states", f"revision {revision} of store {store.name} is {known[0]!s:.400} and "
                         f"{now!s:.400}", known[1], event)
        store.learn(revision, event)
        if event["client"] == AUDITOR:
            store.final = (revision, now, event)

    def _check_shown(self):
        for event in self._shown:
            session = self.sessions.get(event["session"])
            for name, state in event["stores"].items():
                store = session.stores.get(name) if session else None
                if store is None or store.final is None:
                    continue
                self.counts["states shown"] += 1
                if event.get("at_end") and states.compact(state) != store.final[1]:
                    self._report("client", f"{event['client']} shows another state of {name} than the server has",
                                 event, store.final[2])


def _proof(event):
    return [] if event is None else [event]

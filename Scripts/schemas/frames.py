# SPDX-License-Identifier: Apache-2.0
"""Checks that the frames of conversations conform to an OpenRPC document.

The frames come from a transcript of `statewire play`. The script tracks the kind of each store, so that
inputs, configurations, states, events, and states after patches are compared with the schemas of that
kind.
"""

import copy
import json
import re

from jsonschema import Draft7Validator, Draft202012Validator

LINE = re.compile(r"(?:(\S+) )?(-->|<--) (.*)")


class Schemas:
    """The schemas of a document, with validators for both drafts of JSON Schema."""

    def __init__(self, document):
        self.document = document
        self.methods = {method["name"]: method for method in document["methods"]}
        self.stores = document["x-stores"]
        self.errors = {
            error["code"]: name for name, error in document["components"]["errors"].items()
        }
        self.validators = {}

    def faults(self, schema, value, what):
        """Returns the reason why a value does not conform to a schema; empty if it does."""
        key = json.dumps(schema)
        if key not in self.validators:
            whole = {"allOf": [schema], "components": self.document["components"]}
            self.validators[key] = [Draft7Validator(whole), Draft202012Validator(whole)]
        for validator in self.validators[key]:
            for error in validator.iter_errors(value):
                where = "/".join(str(part) for part in error.absolute_path)
                return [f"{what}: {error.message[:200]} (at /{where})"]
        return []


class Session:
    """The stores of a session, as far as frames show them."""

    def __init__(self):
        self.kinds = {}


class Connection:
    def __init__(self):
        self.session = Session()
        # Requests without a response, by their ids.
        self.open = {}
        # The view states of its subscriptions, by store.
        self.states = {}
        # True after bytes were sent that are not parsed, so that their responses are unknown.
        self.is_blind = False


class Conversation:
    """One conversation in progress."""

    def __init__(self, schemas, tally):
        self.schemas = schemas
        self.tally = tally
        self.connections = {}
        self.sessions = {}

    def line(self, name, arrow, text):
        """Handles one line of the transcript; returns its faults."""
        connection = self.connections.setdefault(name, Connection())
        try:
            frame = json.loads(text)
        except ValueError:
            # `--> close` and similar lines, and frames that are sent to be refused.
            if arrow == "-->" or text == "close":
                connection.is_blind = connection.is_blind or '"' in text
                return []
            return ["is not JSON"]
        take = self.sent if arrow == "-->" else self.received
        faults = []
        for message in frame if isinstance(frame, list) else [frame]:
            if arrow == "-->" and not isinstance(message, dict):
                continue
            self.tally["frames"] += 1
            faults += take(connection, message)
        return faults

    # Sent messages
    def sent(self, connection, message):
        method = self.schemas.methods.get(message.get("method"))
        if method is None or method["x-sender"] != "client":
            faults = ["unknown method"]
        else:
            faults = self.params(connection, method, message)
        if "id" in message:
            key = json.dumps(message["id"])
            connection.open.setdefault(key, []).append((message, faults))
        # The response decides whether the faults are expected; a notification has no response.
        return []

    def params(self, connection, method, message):
        params = message.get("params")
        params = {} if params is None else params
        faults = self.schemas.faults(method.get("x-params", {"type": "object"}), params, "params")
        if faults:
            return faults
        if method["name"] == "store/open":
            store = self.schemas.stores.get(params["kind"])
            if store is None:
                return ["params: unknown store kind"]
            config = params.get("config")
            return self.schemas.faults(store["config"], {} if config is None else config, "config")
        if method["name"] == "store/send":
            return self.part("input", connection, params["store"], params["input"])
        return []

    def kind(self, connection, store):
        if store in connection.session.kinds:
            return connection.session.kinds[store]
        return store if store in self.schemas.stores else None

    def part(self, part, connection, store, value):
        """Checks an input, a state or an event against the schemas of the store's kind."""
        kind = self.kind(connection, store)
        if kind is None:
            return []
        schema = self.schemas.stores[kind].get(part)
        if schema is None:
            return [f"{part}: the store kind {kind} has none"]
        self.tally[part] += 1
        return self.schemas.faults(schema, value, f"{part} of {kind}")

    # Received messages
    def received(self, connection, message):
        if message.get("jsonrpc") != "2.0":
            return ["is not JSON-RPC 2.0"]
        if "method" in message:
            if set(message) != {"jsonrpc", "method", "params"}:
                return ["is not a notification"]
            return self.notified(connection, message["method"], message["params"])
        if set(message) not in ({"jsonrpc", "id", "result"}, {"jsonrpc", "id", "error"}):
            return ["is not a response"]
        waiting = connection.open.get(json.dumps(message["id"]), [])
        if "error" in message:
            request, faults = waiting.pop(0) if waiting else (None, [])
            return self.refused(request, faults, message["error"])
        if not waiting:
            return [] if connection.is_blind else ["is a response without a request"]
        request, faults = waiting.pop(0)
        if faults:
            return [f"is a result, but the request does not conform: {faults[0]}"]
        method = self.schemas.methods[request["method"]]
        result = message["result"]
        faults = self.schemas.faults(method["result"]["schema"], result, "result")
        return faults or self.take_result(connection, request, result)

    def notified(self, connection, name, params):
        method = self.schemas.methods.get(name)
        if method is None or method["x-sender"] != "server":
            return ["unknown notification"]
        faults = self.schemas.faults(method["x-params"], params, "params")
        if faults:
            return faults
        if name == "store/event":
            return self.part("event", connection, params["store"], params["event"])
        if name == "store/changed":
            return self.changed(connection, params)
        return []

    def changed(self, connection, params):
        store = params["store"]
        if "state" in params:
            state = params["state"]
        elif store in connection.states:
            state = patched(connection.states[store], params["patch"])
        else:
            # A resumed frontend has a state from an earlier connection.
            return []
        connection.states[store] = state
        return self.part("viewState", connection, store, state)

    def take_result(self, connection, request, result):
        params = request.get("params") or {}
        name = request["method"]
        if name == "store/open":
            connection.session.kinds[params["store"]] = params["kind"]
        elif name == "session/open":
            self.sessions[result["session"]] = connection.session
        elif name in ("session/detach", "session/close"):
            connection.session = Session()
        elif name == "session/attach":
            connection.session = self.sessions.setdefault(params["session"], Session())
            connection.states = {}
            faults = []
            for store, attached in result["stores"].items():
                if "snapshot" in attached:
                    state = attached["snapshot"]["state"]
                    connection.states[store] = state
                    faults += self.part("viewState", connection, store, state)
            return faults
        elif name in ("store/subscribe", "store/state"):
            if name == "store/subscribe":
                connection.states[params["store"]] = result["state"]
            return self.part("viewState", connection, params["store"], result["state"])
        elif name == "session/info":
            unknown = [
                store for store in result["stores"] if store["kind"] not in self.schemas.stores
            ]
            return [f"unknown store kind {store['kind']}" for store in unknown]
        return []

    def refused(self, request, faults, error):
        code = error.get("code")
        name = self.schemas.errors.get(code)
        if name is None:
            return [f"unknown error {code}"]
        if not isinstance(error.get("message"), str) or set(error) - {"code", "message", "data"}:
            return ["is not an error object"]
        data = self.schemas.document["x-error-data"].get(name)
        if (data is None) != ("data" not in error):
            return [f"data of {name} is " + ("missing" if data else "not allowed")]
        wrong = self.schemas.faults(data, error["data"], f"data of {name}") if data else []
        method = self.schemas.methods.get((request or {}).get("method"))
        if method is not None:
            allowed = [one["$ref"].split("/")[-1] for one in method["errors"]]
            if name not in allowed:
                wrong.append(f"{method['name']} does not list the error {name}")
            if name == "InvalidParams":
                self.tally["refused by both" if faults else "refused by the server only"] += 1
                if not faults:
                    self.tally.setdefault("unseen", []).append(json.dumps(request)[:300])
        return wrong


def patched(state, operations):
    """Applies the RFC 6902 operations that the server uses."""
    holder = {"": copy.deepcopy(state)}
    for operation in operations:
        path = operation["path"]
        if operation["op"] in ("move", "copy"):
            value = copy.deepcopy(find(holder, operation["from"]))
            if operation["op"] == "move":
                remove(holder, operation["from"])
            add(holder, path, value)
        elif operation["op"] == "add":
            add(holder, path, copy.deepcopy(operation["value"]))
        elif operation["op"] == "remove":
            remove(holder, path)
        else:
            find(holder, path)
            parent, key = place(holder, path)
            parent[key] = copy.deepcopy(operation["value"])
    return holder[""]


def place(holder, pointer):
    parent = holder
    parts = [part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")]
    for part in parts[:-1]:
        parent = parent[int(part) if isinstance(parent, list) else part]
    last = parts[-1]
    if isinstance(parent, list):
        last = len(parent) if last == "-" else int(last)
    return parent, last


def find(holder, pointer):
    parent, key = place(holder, pointer)
    return parent[key]


def add(holder, pointer, value):
    parent, key = place(holder, pointer)
    if isinstance(parent, list):
        parent.insert(key, value)
    else:
        parent[key] = value


def remove(holder, pointer):
    parent, key = place(holder, pointer)
    del parent[key]


def check(document, transcript):
    """Returns every fault of a transcript with its line, and the number of checked items."""
    schemas = Schemas(document)
    tally = {
        "frames": 0, "input": 0, "viewState": 0, "event": 0, "refused by both": 0,
        "refused by the server only": 0,
    }
    found = []
    conversation = None
    title = ""
    for line in transcript.splitlines():
        if line.startswith("# "):
            title = line[2:]
            conversation = Conversation(schemas, tally)
            continue
        match = LINE.fullmatch(line)
        if not match:
            continue
        name, arrow, text = match.groups()
        found += [f"{title}: {fault}\n    {line[:300]}"
                  for fault in conversation.line(name, arrow, text)]
    return found, tally

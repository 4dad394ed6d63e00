# SPDX-License-Identifier: Apache-2.0
"""Plays conversations with a program, as the server."""

import json

from program import Program, Violation
from updates import ABSENT, Store, check, short

VIEWER = {"identity": None, "frontend": None, "role": None}
NOW = 1_700_000_000_000


class Server:
    """One process of a program, its open requests, and its running work."""

    def __init__(self, command, patience, log, stores=(), unknown=False, pieces=False):
        self.program = Program(command, patience, log)
        self._numbers = 0
        self._awaited = {}
        self._cancelled = set()
        self._outbox = []
        self._unknown, self._pieces = unknown, pieces
        # The work that runs, by its number; each has its sends.
        self.works = {}
        self.describe()
        self.flush()
        self.wait()

    def describe(self):
        self.request("machine/describe", {"protocol": 1, "tests": True}, None, check_description)

    def number(self):
        self._numbers += 1
        return self._numbers

    def request(self, method, params, store, on_response):
        """Adds a request to the outbox; `on_response` gets its result or None, its error or None, and the line."""
        identity = self.number()
        self._awaited[identity] = (method, store, on_response)
        if store is not None:
            store.pending.append(identity)
        self._add({"jsonrpc": "2.0", "id": identity, "method": method, "params": params})
        return identity

    def notify(self, method, params):
        self._add({"jsonrpc": "2.0", "method": method, "params": params})

    def _add(self, message):
        if self._unknown:
            message["params"]["later"] = {"version": 2}
            message["trace"] = "00-1"
            self._outbox.append({"jsonrpc": "2.0", "method": "machine/later", "params": {"store": 1, "state": None}})
        self._outbox.append(message)

    def flush(self):
        """Sends all requests in one write, or in small pieces."""
        data = "".join(json.dumps(message, ensure_ascii=False) + "\n" for message in self._outbox).encode()
        self._outbox = []
        if data:
            size = max(7, len(data) // 500)
            self.program.send([data[at:at + size] for at in range(0, len(data), size)] if self._pieces else data)

    def wait(self, besides=()):
        """Receives messages until all requests have responses, except some."""
        while waiting := self._awaited.keys() - set(besides):
            self._take(*self.program.receive(self._awaited[min(waiting)][0]))

    def cancel(self, identity):
        if identity in self._awaited:
            self._cancelled.add(identity)
            del self._awaited[identity]

    def finish(self, besides=()):
        """Ends the input; the program ends, and writes nothing but responses to work."""
        self._cancelled |= set(besides)
        for identity in besides:
            self._awaited.pop(identity, None)
        self.program.finish(lambda message: self._take(message, b""))

    def _take(self, message, line):
        if "method" in message:
            params = message["params"]
            check(isinstance(params, dict) and params.keys() == {"store", "run", "action"},
                  f"machine/send has store, run and action: {short(message)}")
            work = self.works.get(params["run"])
            check(work is not None and work["store"] == params["store"], f"machine/send of unknown work: {short(message)}")
            work["sends"].append(params["action"])
            return
        identity = message["id"]
        if type(identity) is int and identity in self._cancelled:
            self._cancelled.discard(identity)
            return
        check(type(identity) is int and identity in self._awaited,
              f"a response to an unknown request, or a second response: {short(message)}")
        _, store, on_response = self._awaited.pop(identity)
        if store is not None:
            check(store.pending[0] == identity, "the responses of a store are not in the order of the requests")
            store.pending.pop(0)
        on_response(message.get("result"), message.get("error"), line)


def check_description(result, error, line):
    """Checks the result of machine/describe of the conformance store."""
    check(isinstance(result, dict), f"machine/describe has failed: {short(error)}")
    unknown = result.keys() - {"protocol", "version", "schemas", "viewsBy", "watchesViewers", "showsState"}
    check(not unknown, f"a description has unknown members: {sorted(unknown)}")
    wanted = {"protocol": 1, "version": 2, "viewsBy": "frontend", "watchesViewers": True}
    for name, value in wanted.items():
        check(result.get(name) == value and type(result.get(name)) is type(value),
              f"{name} of the description should be {value!r}, and is {short(result.get(name))}")
    schemas = result.get("schemas", {})
    check(isinstance(schemas, dict) and not schemas.keys() - {"configuration", "input", "viewState", "event"},
          "schemas has configuration, input, viewState and event")
    for name, schema in schemas.items():
        check(isinstance(schema, dict), f"the schema {name} is not an object")
        definitions, parts = schema.get("$defs", {}), [schema]
        while parts:
            part = parts.pop()
            if isinstance(part, dict) and "$ref" in part:
                check(str(part["$ref"]).removeprefix("#/$defs/") in definitions, f"the schema {name} has no {part['$ref']}")
            if isinstance(part, (dict, list)):
                parts += part.values() if isinstance(part, dict) else part


class Player:
    """One conversation with one process: turns steps into requests, and checks the responses."""

    def __init__(self, server, conversation):
        self.server = server
        self.steps = conversation["steps"]
        self.stores = {}
        self._last = None
        # The request and the number of each work, by its label.
        self.runs = {}

    def send(self, step):
        """Adds the request of a step to what the server sends."""
        name = step.get("open") or step.get("restore") or step.get("store")
        if "open" in step or "restore" in step:
            self._open(name, step)
        elif "cancel" in step:
            if step["cancel"] in self.runs:
                identity, run = self.runs[step["cancel"]]
                self.server.notify("machine/cancel", {"run": run})
                self.server.cancel(identity)
        elif "close" in step:
            self.server.notify("machine/close", {"store": self.stores.pop(step["close"]).number})
        else:
            self._last = name or self._last
            self._request(self.stores[self._last], step)

    def open_work(self):
        """Returns the requests of work whose end no step awaits."""
        return [identity for identity, _ in self.runs.values()]

    def move(self, server):
        """Restores all stores in another process, which must know what the first one has known."""
        self.server, self.runs = server, {}
        for store in self.stores.values():
            step = {"views": {key: view for key, view in store.views.items()}} if store.views else {}
            views, store.views, store.pending = store.views, {}, []
            if store.view is not ABSENT:
                store.view, step["view"] = ABSENT, store.view
            store.number = server.number()
            params = {"store": store.number, "name": store.name, "configuration": store.configuration, "version": 2,
                      "state": store.state, "now": NOW}
            restored = {key: value for key, value in step.items() if key != "views"}
            server.request("machine/restore", params, store, self._update(store, restored, opens=True, whole=False))
            if views:
                params = {"store": store.number, "viewers": store.viewers, "now": NOW}
                server.request("machine/viewers", params, store, self._update(store, {"views": step["views"]}))
        server.flush()
        server.wait()

    def _open(self, name, step):
        number = self.server.number()
        configuration = step.get("configuration", {})
        params = {"store": number, "name": name, "configuration": configuration, "now": step.get("now", NOW)}
        store = Store(number, name, configuration)
        self._last = name
        if "open" in step:
            params["viewer"] = VIEWER | step.get("viewer", {})
            method = "machine/open"
        else:
            params |= {"version": step["version"], "state": step["from"]}
            method = "machine/restore"
            store.state = step["from"]
        if "refused" not in step and "fails" not in step:
            self.stores[name] = store
        self.server.request(method, params, store, self._update(store, step, opens=True, whole="open" in step))

    def _request(self, store, step):
        params = {"store": store.number}
        if "run" in step:
            run = self.server.number()
            work = self.server.works[run] = {"store": store.number, "sends": []}
            params |= {"run": run, "name": step.get("name", "work"), "arguments": step["arguments"],
                       "attempt": step.get("attempt", 1)}
            identity = self.server.request("machine/run", params, None, self._ended(step, work))
            self.server.describe()
            if "gives" not in step and "fails" not in step:
                self.runs[step["run"]] = (identity, run)
            return
        params["now"] = step.get("now", NOW)
        if "input" in step:
            method = "machine/input"
            params |= {"input": step["input"], "viewer": VIEWER | step.get("viewer", {})}
        elif "action" in step:
            method = "machine/action"
            params |= {"action": step["action"]} | ({"error": step["error"]} if "error" in step else {})
        else:
            method = "machine/viewers"
            store.viewers = params["viewers"] = [VIEWER | viewer for viewer in step["viewers"]]
        self.server.request(method, params, store, self._update(store, step))

    def _update(self, store, step, opens=False, whole=False):
        def on_response(result, error, line):
            try:
                if "refused" in step:
                    self._refused(error, step["refused"])
                elif step.get("fails"):
                    check(error is not None and error["code"] != -32602, f"an error of the program is expected: {short(result or error)}")
                else:
                    check(error is None, f"an error has come: {short(error)}")
                    check(not whole or "state" in result, f"the update that opens a store has no state: {short(result)}")
                    check("from" in step or not opens or whole or not {"state", "patch"} & result.keys(),
                          "a state of the same version is restored, and the update changes it")
                    store.update(result, line, step, opens)
            except Violation as violation:
                raise Violation(f"after {short({k: v for k, v in step.items() if k not in ('state', 'view')})}: {violation}") from None
        return on_response

    @staticmethod
    def _refused(error, expected):
        check(error is not None, "the input should be refused")
        check(error["code"] == -32602, f"a refusal has the code -32602: {short(error)}")
        data = error.get("data", {})
        check(isinstance(data, dict) and not data.keys() - {"path", "limit"}, f"data of a refusal has path and limit: {short(error)}")
        came = {"message": error["message"], "path": data.get("path", []), **({"limit": data["limit"]} if "limit" in data else {})}
        check(came == expected, f"the refusal should be {short(expected)}, and is {short(came)}")

    @staticmethod
    def _ended(step, work):
        def on_response(result, error, line):
            if step.get("fails"):
                check(error is not None, f"work should fail: {short(result)}")
            elif "gives" in step:
                check(error is None, f"work has failed: {short(error)}")
                expected = {} if step["gives"] is None else {"action": step["gives"]}
                check(result == expected, f"work should give {short(expected)}, and gives {short(result)}")
            else:
                raise Violation("work without an end has a response before it was cancelled")
            sends = step.get("sends", [])
            check(work["sends"] == sends, f"work should send {short(sends)}, and has sent {short(work['sends'])}")
        return on_response

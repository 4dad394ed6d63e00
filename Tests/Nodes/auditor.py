# SPDX-License-Identifier: Apache-2.0
"""Opens the sessions of a run, and reads all states at its end, over connections of its own."""

import contextlib
import json
import time

import history
import wires
from checker import AUDITOR

# Seconds to try again; after a session that cannot be read it is shorter.
PATIENCE = 60
# Seconds until a session that was asleep has read all that it shows.
AWAKE = 5


class Auditor:
    def __init__(self, folder, address):
        self.recorder, self.address = history.Recorder(folder, AUDITOR), address
        self.patience = PATIENCE

    def open_session(self):
        """Returns the handle of a new session."""
        return self._request([("session/open", {})])[0]["session"]

    def read_all(self, folder):
        """Reads all stores of all sessions of a history, under the names of their clients."""
        found = []
        for session, frontend in participants(history.read_folder(folder)):
            place = {"session": session, "frontend": frontend}
            with self._reading(frontend):
                _, info = self._request([("session/attach", {**place, "revisions": {}}), ("session/info", {})])
                found.append((place, [store["store"] for store in info["stores"]]))
        # A session that was asleep shows the shared lists as it knew them, until it has read them again.
        time.sleep(AWAKE)
        for place, names in found:
            with self._reading(place["frontend"]):
                self._request([("session/attach", {**place, "revisions": dict.fromkeys(names)}),
                               *(("store/state", {"store": name}) for name in names)])

    @contextlib.contextmanager
    def _reading(self, frontend):
        try:
            yield
        except wires.Ended as ended:
            # The checker finds that the states are missing.
            print(f"cannot read the session of {frontend}: {ended}", flush=True)
            self.patience = 5

    def _request(self, requests):
        """Sends the requests over one connection; returns their results. Tries again for some time.

        - Raises: `wires.Ended`.
        """
        deadline = time.monotonic() + self.patience
        while True:
            connection = self.recorder.opened(f"{self.address[0]}:{self.address[1]}")
            try:
                return self._try(connection, requests)
            except wires.Ended as ended:
                self.recorder.closed(connection, str(ended))
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.5)

    def _try(self, connection, requests):
        wire = wires.connect("lines", self.address, 5)
        results = []
        try:
            for number, (method, params) in enumerate(requests):
                text = json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
                self.recorder.sent(connection, text)
                wire.send(text)
                results.append(self._response(wire, connection, number))
        finally:
            wire.close()
        return results

    def _response(self, wire, connection, number):
        deadline = time.monotonic() + 10
        result = None
        while result is None:
            if time.monotonic() > deadline:
                raise wires.Ended("no response")
            for text in wire.receive(1):
                self.recorder.received(connection, text)
                message = json.loads(text)
                if "method" not in message and message.get("id") == number:
                    if "error" in message:
                        raise wires.Ended(message["error"]["message"])
                    result = message["result"]
        return result


def participants(events):
    """Returns the sessions that clients have used, each with the name of a client, in their order."""
    found, opening = {}, {}
    for event in events:
        if event["event"] not in ("sent", "received") or event["client"] == AUDITOR:
            continue
        for message in history.messages(event):
            params, key = message.get("params") or {}, (event["client"], event["connection"], message.get("id"))
            if message.get("method") == "session/attach":
                found[params["session"], params.get("frontend")] = None
            elif message.get("method") == "session/open":
                opening[key] = params.get("frontend")
            elif "result" in message and key in opening:
                found[message["result"]["session"], opening.pop(key)] = None
    return list(found)

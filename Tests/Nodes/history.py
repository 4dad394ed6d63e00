# SPDX-License-Identifier: Apache-2.0
"""A history: all messages that clients have sent and received, as lines of JSON.

Each client writes a file of its own. A line is an event:

    {"at": T, "client": C, "connection": N, "event": "opened", "address": ADDRESS}
    {"at": T, "client": C, "connection": N, "event": "sent", "message": MESSAGE}
    {"at": T, "client": C, "connection": N, "event": "received", "message": MESSAGE}
    {"at": T, "client": C, "connection": N, "event": "closed", "reason": TEXT}
    {"at": T, "client": C, "event": "shown", "stores": {STORE: STATE}}       the states that a library shows at the end
    {"at": T, "client": C, "event": "failed", "error": TEXT}                 a library gives an input up
    {"at": T, "client": C, "event": "started", …}                            the settings of a client
    {"at": T, "client": "chaos", "event": "fault" | "healed", "fault": …}    by the driver

`at` is the monotonic clock of the machine in nanoseconds, which all processes share. A client records a message
before it sends it and after it has received it, so the server has handled it between the two.
Messages are recorded as they are on the wire: nothing that a client library does can hide a fault of the server.
"""

import heapq
import json
import os
import time


class Recorder:
    """Appends the events of one client to its file."""

    def __init__(self, folder, client):
        self.client = client
        self._file = open(os.path.join(folder, f"{client}.jsonl"), "a", buffering=1, encoding="utf-8")
        self._connections = 0

    def event(self, event, **members):
        line = {"at": time.monotonic_ns(), "client": self.client, "event": event, **members}
        self._file.write(json.dumps(line, ensure_ascii=False) + "\n")

    def opened(self, address):
        """Records a new connection; returns its number."""
        self._connections += 1
        self.event("opened", connection=self._connections, address=address)
        return self._connections

    def sent(self, connection, text):
        self._message("sent", connection, text)

    def received(self, connection, text):
        self._message("received", connection, text)

    def closed(self, connection, reason):
        self.event("closed", connection=connection, reason=reason)

    def _message(self, event, connection, text):
        if not isinstance(text, str):
            text = bytes(text).decode("utf-8", "replace")
        head = {"at": time.monotonic_ns(), "client": self.client, "connection": connection, "event": event}
        # The text of the message as it is: a line end in it can only be white space.
        one_line = text.strip().replace("\n", " ").replace("\r", " ")
        self._file.write(f'{json.dumps(head)[:-1]}, "message": {one_line}}}\n')

    def close(self):
        self._file.close()


def read_folder(folder):
    """Yields the events of all files of a folder in the order of their times."""
    names = sorted(name for name in os.listdir(folder) if name.endswith(".jsonl"))
    return heapq.merge(*(read_file(os.path.join(folder, name)) for name in names), key=lambda event: event["at"])


def read_file(path):
    with open(path, encoding="utf-8", newline="\n") as file:
        last = 0
        for number, line in enumerate(file, 1):
            try:
                event = json.loads(line)
            except ValueError:
                if not line.endswith("\n"):
                    return  # The client was killed while it wrote.
                event = {"at": last, "client": os.path.basename(path)[:-6], "event": "unreadable", "text": line[:400]}
            last = event["at"]
            event["place"] = f"{os.path.basename(path)}:{number}"
            yield event


def messages(event):
    """Yields the messages of an event: those of a batch one by one."""
    message = event["message"]
    yield from message if isinstance(message, list) else [message]

# SPDX-License-Identifier: Apache-2.0
"""A client of the server."""

import json
import socket
import time


class Client:
    """A raw JSON-RPC connection."""

    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=20)
        self.file = self.socket.makefile("rwb")
        self.last = 0
        self.notifications: list[dict] = []
        self.responses: dict[int, dict] = {}

    def send(self, method: str, **params: object) -> int:
        self.last += 1
        self.post({"jsonrpc": "2.0", "id": self.last, "method": method, "params": params})
        return self.last

    def post(self, message: object) -> None:
        self.file.write(json.dumps(message).encode() + b"\n")
        self.file.flush()

    def end_input(self) -> None:
        self.socket.shutdown(socket.SHUT_WR)

    def read_batch(self) -> list[dict]:
        """Reads the next message, which holds the responses to a batch."""
        return json.loads(self.file.readline())

    def read(self) -> dict:
        line = self.file.readline()
        if not line:
            raise ConnectionError("the server has closed the connection")
        message = json.loads(line)
        if "method" in message:
            self.notifications.append(message)
        else:
            self.responses[message["id"]] = message
        return message

    def response(self, number: int) -> dict:
        while number not in self.responses:
            self.read()
        return self.responses.pop(number)

    def call(self, method: str, **params: object) -> dict:
        response = self.response(self.send(method, **params))
        if "error" in response:
            raise RPCError(response["error"])
        return response["result"]

    def input(self, store: str, type: str, settle: bool = False, **members: object) -> dict:
        return self.call("store/send", store=store, input={"type": type, **members}, settle=settle)

    def state(self, store: str) -> dict:
        return self.call("store/state", store=store)["state"]

    def until(self, condition, seconds: float = 20) -> None:
        end = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > end:
                raise TimeoutError("the condition did not become true")
            self.socket.settimeout(max(0.1, end - time.monotonic()))
            self.read()
        self.socket.settimeout(20)

    def actions(self) -> list[str]:
        """The actions of the session's stores, with `session/trace`; with a journal, those that it has."""
        self.call("ping")
        traced = [note["params"] for note in self.notifications if note["method"] == "session/traced"]
        return [record["action"] for record in traced if record["stage"] == "action"]

    def close(self) -> None:
        self.file.close()
        self.socket.close()

    def abandon(self) -> None:
        """Closes a connection that may be broken."""
        try:
            self.close()
        except OSError:
            self.socket.close()


class RPCError(Exception):
    def __init__(self, error: dict) -> None:
        super().__init__(error["message"])
        self.code, self.message, self.data = error["code"], error["message"], error.get("data")

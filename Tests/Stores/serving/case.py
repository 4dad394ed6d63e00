# SPDX-License-Identifier: Apache-2.0
"""The base of the tests, and the programs that they write."""

import json
import pathlib
import shlex
import sys
import tempfile
import time
import unittest
from collections.abc import Callable

from .client import Client, RPCError
from .server import Server

SHARED = (pathlib.Path(__file__).parent / "scripted.py").read_text()
#: The seconds in which a condition becomes true on a busy machine.
PATIENCE = 40


class Program:
    """A program of a test: the handlers of `scripted.py`, with those of the test in place of some of them."""

    def __init__(self, folder: pathlib.Path, handlers: str) -> None:
        self.folder = folder
        #: The folder that --watch looks at.
        self.home = folder / "program"
        self.home.mkdir()
        self.path = self.home / "program.py"
        self.save(handlers)
        self.command = shlex.join([sys.executable, str(self.path), str(folder)])

    def save(self, handlers: str) -> None:
        """Writes the program; in one step, so that no part of it is started."""
        new = self.folder / "new.py"
        new.write_text(f"{SHARED}\n\n{handlers}\n\nmain()\n")
        new.replace(self.path)

    def set(self, flag: str) -> None:
        (self.folder / flag).touch()

    def clear(self, flag: str) -> None:
        (self.folder / flag).unlink()

    def requests(self, method: str | None = None, **members: object) -> list[dict]:
        """The requests that all processes have received, in their order."""
        try:
            lines = (self.folder / "record").read_text().split("\n")[:-1]
        except FileNotFoundError:
            return []
        requests = [json.loads(line) for line in lines]
        return [
            request
            for request in requests
            if method in (None, request["method"])
            and all(request.get(name) == value for name, value in members.items())
        ]

    def starts(self) -> int:
        """The number of processes that were asked to describe themselves."""
        return len(self.requests("describe"))


class ServingTestCase(unittest.TestCase):
    def serve(self, *options: str, **stores: str) -> Server:
        """Starts a server, which must end without a failure."""
        server = Server(*options, **stores)
        self.addCleanup(self.stop, server)
        server.start()
        return server

    def stop(self, server: Server) -> None:
        """Stops a server, if it runs."""
        if server.log.closed:
            return
        code, text = server.stop(), server.text()
        server.log.close()
        self.assertIn(code, (None, 0), text)
        for fault in ("SWIFT TASK CONTINUATION MISUSE", "Cannot schedule tasks"):
            self.assertNotIn(fault, text)

    def client(self, server: Server) -> Client:
        client = server.client()
        self.addCleanup(client.close)
        return client

    def folder(self) -> pathlib.Path:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        return pathlib.Path(folder.name)

    def program(self, handlers: str = "") -> Program:
        return Program(self.folder(), handlers)

    def wait(self, condition: Callable[[], object], about: str) -> None:
        """Waits until a condition is true."""
        end = time.monotonic() + PATIENCE
        while not condition():
            self.assertLess(time.monotonic(), end, f"it did not happen: {about}")
            time.sleep(0.02)

    def accepted(self, client: Client, store: str, input: object) -> None:
        """Sends an input again and again until the program of the store works."""

        def sent() -> bool:
            try:
                client.call("store/send", store=store, input=input)
                return True
            except RPCError as error:
                self.assertEqual(error.code, -32603)
                return False

        self.wait(sent, f"the store {store} takes an input")

    def stops(self, client: Client, store: str, input: object) -> None:
        """Sends an input at which the program ends."""
        with self.assertRaises(RPCError) as caught:
            client.call("store/send", store=store, input=input)
        self.assertEqual(caught.exception.code, -32603)

# SPDX-License-Identifier: Apache-2.0
"""Serves a store kind to a Statewire server on standard input and output."""

import asyncio
import json
import os
import sys
import threading
import time
from collections.abc import Callable
from traceback import format_exception_only, print_exception
from typing import Any, BinaryIO

from .effects import Refusal, checked, given, tagged, text
from .kind import Machine, StoreKind, call

# Python refuses to read integers with very many digits; the server does not.
_number: Callable[[str], float] = lambda text: int(text) if len(text) < 4_000 else float(text)  # noqa: E731


class Work(threading.Event):
    """The context of work, an optional last parameter of a function in `runs`.

    - `name` and `attempt` are the name and the number of the attempt, from 1.
    - `send(action)` sends an action while the work runs; it does nothing after the work is cancelled.
    """

    is_cancelled = property(threading.Event.is_set, doc="True if the result is not needed any more.")

    def __init__(self, name: str, attempt: int, send: Callable[[Any], None], waits: bool = True) -> None:
        super().__init__()
        self.name, self.attempt, self.send, self._waits = name, attempt, send, waits

    def wait(self, seconds: float | None = None) -> bool:
        """Waits, but not in a test; returns true as soon as the work is cancelled."""
        return super().wait(seconds if self._waits else 0)


class Program:
    """Responds to the requests of a server for all stores of a kind."""

    def __init__(self, kind: StoreKind, output: BinaryIO) -> None:
        self._kind, self._output, self._is_tested = kind, output, False
        # The stores, and the work that has not ended and is not cancelled.
        self._machines, self._works = dict[int, Machine](), dict[int, Work]()

    def write(self, line: str, since: float = 0) -> float | None:
        """Writes a line of JSON; keeps it for the next write if that time is less than 50 ms ago.

        Returns the time of the write; None if it keeps the line.
        """
        # Lines of several threads are not mixed: a buffered file takes a line in one call.
        self._output.write(line.encode("utf-8", "backslashreplace"))
        if is_due := time.monotonic() - since >= 0.05:
            self._output.flush()
        return time.monotonic() if is_due else None

    def result(self, message: dict[str, Any]) -> str | None:
        """Returns the result of a request as JSON text; None if there is none, or if it comes later."""
        method, params = message["method"].removeprefix("machine/"), message.get("params", {})
        if method == "describe":
            self._is_tested = bool(params.get("tests"))
            return text(self._kind.description())
        if method in ("open", "restore", "input", "action", "viewers"):
            machine = self._machines.get(params["store"]) or Machine(self._kind, **params)
            # The server carries out the rest of an endless chain of actions, and serves others meanwhile.
            # Under test it carries out all, because a test injects faults into them.
            update = machine.turn(method, params, maximum_actions=0 if self._is_tested else 1_000)
            self._machines[params["store"]] = machine
            return update
        if method == "close":
            self._machines.pop(params["store"], None)
        elif method == "run":
            self._run(message["id"], **params)
        elif method != "cancel":
            raise NotImplementedError(f"unknown method machine/{method}")
        elif work := self._works.pop(params["run"], None):
            work.set()
        return None

    def _run(self, id: Any, store: int, run: int, name: str, arguments: Any, attempt: int, **_: Any) -> None:
        def send(action: Any) -> None:
            sent = {"store": store, "run": run, "action": checked(tagged(action), "/action")}
            if run in self._works:
                self.write(text({"jsonrpc": "2.0", "method": "machine/send", "params": sent}) + "\n")

        def do() -> None:
            self.write(_response(id, perform, self._kind, work, arguments))
            self._works.pop(run, None)

        self._works[run] = work = Work(name, attempt, send)
        threading.Thread(target=do, daemon=True).start()


def perform(kind: StoreKind, work: Work, arguments: Any) -> str:
    """Does work; returns the result of `machine/run` as JSON text."""
    action = call(kind.runs[work.name], arguments, work)
    return text(checked(given(action=tagged(asyncio.run(action) if asyncio.iscoroutine(action) else action))))


def serve(kind: StoreKind | None = None, **members: Any) -> None:
    """Serves a store kind, or the kind with these members, until the server closes the standard input.

    Standard output belongs to the protocol: what the program prints goes to standard error.
    """
    program = Program(kind or StoreKind(**members), os.fdopen(os.dup(1), "wb", 1 << 16))
    source, unread = os.dup(0), bytearray()
    os.dup2(2, 1)
    # What has a reference to standard output writes to it line by line. A print is seen when it happens, and
    # takes each text, as those to standard error.
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    sys.stdout = sys.stderr
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    while chunk := os.read(source, 1 << 20):
        unread += chunk
        if b"\n" in chunk:
            # The responses to the requests of a read are one write. If they take long, each write has those
            # of 50 ms, so that the server is not woken for each. The last of them wait for the next one.
            *lines, unread = unread.split(b"\n")
            since = time.monotonic()
            for each in (json.loads(line, parse_int=_number) for line in lines):
                since = program.write(_response(each.get("id"), program.result, each), since) or since
            program.write("")


def _response(id: Any, function: Callable[..., str | None], *arguments: Any) -> str:
    """Returns the response with the result of a function, or with its error; "" without either.

    The log has the faults of the program.
    """
    try:
        member, value = "result", function(*arguments)
    except Refusal as refusal:
        data = given(path=refusal.path, limit=refusal.limit)
        member, value = "error", text({"code": -32602, "message": refusal.message, "data": data})
    # Work responds also if it ends by `sys.exit` or is cancelled; in an update, `sys.exit` ends the program.
    except (Exception if threading.current_thread() is threading.main_thread() else BaseException) as error:  # noqa: B030
        # The last calls, which are those of the author: the log takes a limited number of lines.
        print_exception(error, limit=-5)
        code = -32601 if isinstance(error, NotImplementedError) else -32603
        # This text exists also if the exception fails to make one.
        member, value = "error", text({"code": code, "message": "".join(format_exception_only(error))[:-1]})
    return "" if id is None or value is None else f'{{"jsonrpc":"2.0","id":{text(id)},"{member}":{value}}}\n'

# SPDX-License-Identifier: Apache-2.0
"""Serves a store kind to a Statewire server on standard input and output."""

import asyncio
import inspect
import io
import json
import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable
from typing import Any, BinaryIO

from .effects import Refusal, tagged, text
from .kind import Machine, StoreKind, call


class Work:
    """The context of work, an optional last parameter of a function in `runs`.

    - `name` and `attempt` are the name and the number of the attempt, from 1.
    - `send(action)` sends an action while the work runs.
    """

    def __init__(self, name: str, attempt: int, send: Callable[[Any], None], waits: bool = True) -> None:
        self.name, self.attempt, self.send = name, attempt, send
        self._waits, self.cancelled = waits, threading.Event()

    @property
    def is_cancelled(self) -> bool:
        """True if the result is not needed any more."""
        return self.cancelled.is_set()

    def wait(self, seconds: float | None = None) -> bool:
        """Waits, but not in a test; returns true as soon as the work is cancelled."""
        return self.cancelled.wait(seconds if self._waits else 0)


class Program:
    """Responds to the requests of a server for all stores of a kind."""

    def __init__(self, kind: StoreKind, output: BinaryIO) -> None:
        self._kind, self._output = kind, output
        self._machines: dict[int, Machine] = {}
        self._works: dict[int, Work] = {}

    def write(self, lines: str) -> None:
        """Writes lines of JSON."""
        # Lines of several threads are not mixed: a buffered file takes all of them in one call.
        self._output.write(lines.encode("utf-8", "backslashreplace"))
        self._output.flush()

    def respond(self, line: bytearray) -> str:
        """Returns the response to a message; "" if there is none, or if it comes later."""
        id = None
        try:
            message = json.loads(line)
            id, method = message.get("id"), message["method"].removeprefix("machine/")
            result = self._result(id, method, message.get("params", {}))
            return _line(id, "result", result) if result else ""
        except Exception as error:
            return _failure(id, error)

    def _result(self, id: Any, method: str, params: dict[str, Any]) -> str | None:
        match method:
            case "describe":
                return text(self._kind.description())
            case "open" | "restore" | "input" | "action" | "viewers":
                machine = self._machines.get(params["store"]) or Machine(
                    self._kind, params["name"], params["configuration"])  # fmt: skip
                update = machine.turn(method, params)
                self._machines[params["store"]] = machine
                return update
            case "close":
                self._machines.pop(params["store"], None)
            case "run":
                self._run(id, **params)
            case "cancel":
                if work := self._works.get(params["run"]):
                    work.cancelled.set()
            case _:
                raise NotImplementedError(f"unknown method machine/{method}")
        return None

    def _run(self, id: Any, store: int, run: int, name: str, arguments: Any, attempt: int, **_: Any) -> None:
        def send(action: Any) -> None:
            sent = {"store": store, "run": run, "action": tagged(action)}
            self.write(text({"jsonrpc": "2.0", "method": "machine/send", "params": sent}) + "\n")

        def do() -> None:
            try:
                action = perform(self._kind, work, arguments)
                response = _line(id, "result", text({} if action is None else {"action": tagged(action)}))
            except Exception as error:
                response = _failure(id, error)
            del self._works[run]
            self.write(response)

        self._works[run] = work = Work(name, attempt, send)
        threading.Thread(target=do, daemon=True).start()


def perform(kind: StoreKind, work: Work, arguments: Any) -> Any:
    """Does work; returns its action."""
    result = call(kind.runs[work.name], arguments, work)
    return asyncio.run(result) if inspect.iscoroutine(result) else result


def serve(kind: StoreKind | None = None, **members: Any) -> None:
    """Serves a store kind, or the kind with these members, until the server closes the standard input.

    Standard output belongs to the protocol: what the program prints goes to standard error.
    """
    program = Program(kind or StoreKind(**members), os.fdopen(os.dup(1), "wb", 1 << 16))
    source = os.dup(0)
    os.dup2(2, 1)
    # A print is seen when it happens.
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(line_buffering=True)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    # Control-C in a terminal reaches the server too, which ends the program.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    unread = bytearray()
    while chunk := os.read(source, 1 << 20):
        unread += chunk
        if b"\n" in chunk:
            # The responses to the requests of a read are one write.
            *lines, unread = unread.split(b"\n")
            program.write("".join(map(program.respond, lines)))


def _line(id: Any, member: str, value: str) -> str:
    return f'{{"jsonrpc":"2.0","id":{json.dumps(id)},"{member}":{value}}}\n'


def _failure(id: Any, error: Exception) -> str:
    """Returns the response with an error. The log has the faults of the program."""
    code = -32601 if isinstance(error, NotImplementedError) else -32603
    response: dict[str, Any] = {"code": code, "message": f"{type(error).__name__}: {error}"}
    if isinstance(error, Refusal):
        data = {"path": error.path} | ({"limit": error.limit} if error.limit else {})
        response = {"code": -32602, "message": error.message, "data": data}
    else:
        # The last calls, which are those of the author: the log takes a limited number of lines.
        traceback.print_exception(error, limit=-5)
    return "" if id is None else _line(id, "error", text(response))

# SPDX-License-Identifier: Apache-2.0
"""Serves a store kind to a Statewire server on standard input and output."""

import asyncio
import inspect
import json
import os
import signal
import threading
import traceback
from collections.abc import Callable
from typing import Any

from .effects import Refusal, tagged, text
from .kind import Machine, StoreKind, call


class Work:
    """The context of work, an optional last parameter of a function in `runs`."""

    def __init__(self, name: str, attempt: int, send: Callable[[Any], None], waits: bool = True) -> None:
        self.name, self.attempt = name, attempt
        self._send, self._waits, self._cancelled = send, waits, threading.Event()

    @property
    def is_cancelled(self) -> bool:
        """True if the result is not needed any more."""
        return self._cancelled.is_set()

    def wait(self, seconds: float | None = None) -> bool:
        """Waits, but not in a test; returns true as soon as the work is cancelled."""
        return self._cancelled.wait(seconds if self._waits else 0)

    def send(self, action: Any) -> None:
        """Sends an action while the work runs."""
        self._send(tagged(action))

    def cancel(self) -> None:
        self._cancelled.set()


class Program:
    """Answers the requests of a server for all stores of a kind."""

    def __init__(self, kind: StoreKind, output: int) -> None:
        self._kind, self._output, self._lock = kind, output, threading.Lock()
        self._machines: dict[int, Machine] = {}
        self._works: dict[int, Work] = {}

    def serve(self, source: int) -> None:
        """Reads requests until the end of the input. The answers to the requests of a read are one write."""
        unread = bytearray()
        while chunk := os.read(source, 1 << 20):
            unread += chunk
            if b"\n" in chunk:
                *lines, unread = unread.split(b"\n")
                self._write("".join(map(self._answer, lines)))

    def _write(self, lines: str) -> None:
        data = memoryview(lines.encode("utf-8", "backslashreplace"))
        with self._lock:
            while data:
                data = data[os.write(self._output, data) :]

    def _answer(self, line: bytearray) -> str:
        """Returns the response to a message; "" if there is none, or if it comes later."""
        id = None
        try:
            message = json.loads(line)
            id, method, params = message.get("id"), message["method"], message.get("params", {})
            result = self._result(id, method.removeprefix("machine/"), params)
        except Exception as error:
            return _failure(id, error)
        return _line(id, "result", result) if result else ""

    def _result(self, id: Any, method: str, params: dict[str, Any]) -> str | None:
        match method:
            case "describe":
                return text(self._kind.description())
            case "open" | "restore":
                machine = Machine(self._kind, params["name"], params["configuration"])
                update = machine.turn(method, params)
                self._machines[params["store"]] = machine
                return update
            case "input" | "action" | "viewers":
                return self._machines[params["store"]].turn(method, params)
            case "close":
                self._machines.pop(params["store"], None)
            case "run":
                self._run(id, **params)
            case "cancel":
                if work := self._works.get(params["run"]):
                    work.cancel()
            case _:
                raise NotImplementedError(f"unknown method machine/{method}")
        return None

    def _run(self, id: Any, store: int, run: int, name: str, arguments: Any, attempt: int, **_: Any) -> None:
        def send(action: Any) -> None:
            sent = {"store": store, "run": run, "action": action}
            self._write(text({"jsonrpc": "2.0", "method": "machine/send", "params": sent}) + "\n")

        def do() -> None:
            try:
                action = perform(self._kind, name, arguments, work)
                answer = _line(id, "result", text({} if action is None else {"action": tagged(action)}))
            except Exception as error:
                answer = _failure(id, error)
            del self._works[run]
            self._write(answer)

        self._works[run] = work = Work(name, attempt, send)
        threading.Thread(target=do, daemon=True).start()


def perform(kind: StoreKind, name: str, arguments: Any, work: Work) -> Any:
    """Does work; returns its action."""
    result = call(kind.runs[name], arguments, work)
    return asyncio.run(result) if inspect.iscoroutine(result) else result


def serve(kind: StoreKind | None = None, **members: Any) -> None:
    """Serves a store kind, or the kind with these members, until the server closes the standard input.

    Standard output belongs to the protocol: what the program prints goes to standard error.
    """
    program = Program(kind or StoreKind(**members), os.dup(1))
    source = os.dup(0)
    os.dup2(2, 1)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    # Control-C in a terminal reaches the server too, which ends the program.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    program.serve(source)


def _line(id: Any, member: str, value: str) -> str:
    return f'{{"jsonrpc":"2.0","id":{json.dumps(id)},"{member}":{value}}}\n'


def _failure(id: Any, error: Exception) -> str:
    """Returns the response with an error. The log has the faults of the program."""
    code = -32601 if isinstance(error, NotImplementedError) else -32603
    answer: dict[str, Any] = {"code": code, "message": f"{type(error).__name__}: {error}"}
    if isinstance(error, Refusal):
        data = {"path": error.path} | ({"limit": error.limit} if error.limit else {})
        answer = {"code": -32602, "message": error.message, "data": data}
    elif code == -32603:
        traceback.print_exception(error)
    return "" if id is None else _line(id, "error", text(answer))

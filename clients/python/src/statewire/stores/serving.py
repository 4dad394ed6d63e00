# SPDX-License-Identifier: Apache-2.0
"""Serves a store kind to a Statewire server on standard input and output."""

from __future__ import annotations

import asyncio
import inspect
import json
import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable
from typing import Any

from .effects import Refusal, tagged, text
from .kind import Machine, StoreKind, call


class Work:
    """The context of work, an optional last parameter of a function in `runs`."""

    def __init__(self, name: str, attempt: int, send: Callable[[Any], None]) -> None:
        self.name, self.attempt = name, attempt
        self._send, self._cancelled = send, threading.Event()

    @property
    def is_cancelled(self) -> bool:
        """True if the result is not needed any more."""
        return self._cancelled.is_set()

    def wait(self, seconds: float | None = None) -> bool:
        """Waits; returns true as soon as the work is cancelled."""
        return self._cancelled.wait(seconds)

    def send(self, action: Any) -> None:
        """Sends an action while the work runs."""
        self._send(tagged(action))

    def cancel(self) -> None:
        self._cancelled.set()


class Program:
    """Answers the requests of a server for all stores of a kind."""

    def __init__(self, kind: StoreKind, output: int) -> None:
        self._kind, self._output = kind, output
        self._machines: dict[int, Machine] = {}
        self._works: dict[int, Work] = {}
        self._lock = threading.Lock()

    def serve(self, source: int) -> None:
        """Reads requests until the end of the input. The answers to the requests of a read are one write."""
        begun: list[bytes] = []
        while chunk := os.read(source, 1 << 20):
            *whole, rest = chunk.split(b"\n")
            if whole:
                whole[0] = b"".join([*begun, whole[0]])
                begun = []
                self.write("".join(map(self._answer, whole)))
            begun.append(rest)

    def write(self, lines: str) -> None:
        data = memoryview(lines.encode("utf-8", "backslashreplace"))
        with self._lock:
            while data:
                data = data[os.write(self._output, data) :]

    def _answer(self, line: bytes) -> str:
        try:
            message = json.loads(line)
            method, params, name = message["method"], message.get("params", {}), message.get("id")
        except (ValueError, LookupError, TypeError) as error:
            print(f"a line of the server is not a request: {error}", file=sys.stderr)
            return ""
        try:
            if method == "machine/close":
                self._machines.pop(params["store"], None)
            elif method == "machine/cancel" and (work := self._works.get(params["run"])):
                work.cancel()
            elif method == "machine/run":
                self._run(name, params)
            elif "id" in message:
                return _line(name, "result", self._result(method.removeprefix("machine/"), params))
        except Exception as error:
            return _line(name, "error", _error(error))
        return ""

    def _result(self, method: str, params: dict[str, Any]) -> str:
        if method == "describe":
            return text(self._kind.description())
        machine = self._machines.get(params.get("store", 0)) or Machine(self._kind)
        result = machine.turn(method, params)
        self._machines[params["store"]] = machine
        return result

    def _run(self, name: Any, params: dict[str, Any]) -> None:
        def send(action: Any) -> None:
            sent = {"store": params["store"], "run": run, "action": action}
            self.write(text({"jsonrpc": "2.0", "method": "machine/send", "params": sent}) + "\n")

        def work() -> None:
            try:
                action = perform(self._kind, params["name"], params["arguments"], self._works[run])
                answer = _line(name, "result", text({} if action is None else {"action": tagged(action)}))
            except Exception as error:
                answer = _line(name, "error", _error(error))
            del self._works[run]
            self.write(answer)

        run = params["run"]
        self._works[run] = Work(params["name"], params["attempt"], send)
        threading.Thread(target=work, daemon=True).start()


def perform(kind: StoreKind, name: str, arguments: Any, work: Any) -> Any:
    """Does work; returns its action."""
    result = call(kind.runs[name], arguments, work)

    async def awaited() -> Any:
        return await result

    return asyncio.run(awaited()) if inspect.isawaitable(result) else result


def serve(kind: StoreKind | None = None, **members: Any) -> None:
    """Serves a store kind, or the kind with these members, until the server closes the standard input.

    Standard output belongs to the protocol: what the program prints goes to standard error.
    """
    program = Program(kind or StoreKind(**members), os.dup(1))
    source = os.dup(0)
    os.dup2(2, 1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    # Control-C in a terminal reaches the server too, which ends the program.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    program.serve(source)


def _line(name: Any, member: str, value: str) -> str:
    return f'{{"jsonrpc":"2.0","id":{json.dumps(name)},"{member}":{value}}}\n'


def _error(error: Exception) -> str:
    if isinstance(error, Refusal):
        data = {"path": error.path} | ({"limit": error.limit} if error.limit else {})
        return text({"code": -32602, "message": error.message, "data": data})
    if isinstance(error, NotImplementedError):
        return text({"code": -32601, "message": str(error)})
    traceback.print_exception(error)
    return text({"code": -32603, "message": f"{type(error).__name__}: {error}"})

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
from typing import Any

from .effects import Refusal, tagged
from .kind import Machine, StoreKind, Viewer, call, text


class Work:
    """The context of work, an optional last parameter of a function in `runs`."""

    def __init__(self, program: Program, name: str, store: int, run: int, attempt: int) -> None:
        self.name, self.attempt = name, attempt
        self._program, self._store, self._run = program, store, run
        self._cancelled = threading.Event()

    @property
    def is_cancelled(self) -> bool:
        """True if the result is not needed any more."""
        return self._cancelled.is_set()

    def wait(self, seconds: float | None = None) -> bool:
        """Waits; returns true as soon as the work is cancelled."""
        return self._cancelled.wait(seconds)

    def send(self, action: Any) -> None:
        """Sends an action while the work runs."""
        params = {"store": self._store, "run": self._run, "action": tagged(action)}
        self._program.write(text({"jsonrpc": "2.0", "method": "machine/send", "params": params}) + "\n")

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
        if "id" not in message:
            self._notified(method, params)
            return ""
        try:
            if method == "machine/run":
                threading.Thread(target=self._run, args=(name, params), daemon=True).start()
                return ""
            return _line(name, "result", self._result(method, params))
        except Exception as error:
            return _line(name, "error", _error(error))

    def _notified(self, method: str, params: Any) -> None:
        if method == "machine/close":
            self._machines.pop(params["store"], None)
        elif method == "machine/cancel" and (work := self._works.get(params["run"])):
            work.cancel()

    def _result(self, method: str, params: dict[str, Any]) -> str:
        if method == "machine/describe":
            return text(self._kind.description())
        now, store = params.get("now", 0), params.get("store", 0)
        if method in ("machine/open", "machine/restore"):
            machine = Machine(self._kind, params["name"], params["configuration"])
            if method == "machine/open":
                result = machine.open(_viewer(params["viewer"]), now)
            else:
                result = machine.restore(params["version"], params["state"], now)
            self._machines[store] = machine
            return result
        if method not in ("machine/input", "machine/action", "machine/viewers"):
            raise NotImplementedError(method)
        machine = self._machines[store]
        if method == "machine/input":
            return machine.input(params["input"], _viewer(params["viewer"]), now)
        if method == "machine/action":
            return machine.action(params["action"], params.get("error"), now)
        return machine.viewers([_viewer(viewer) for viewer in params["viewers"]], now)

    def _run(self, name: Any, params: dict[str, Any]) -> None:
        run = params["run"]
        work = Work(self, params["name"], params["store"], run, params["attempt"])
        self._works[run] = work
        try:
            action = perform(self._kind, params["name"], params["arguments"], work)
            answer = _line(name, "result", text({} if action is None else {"action": tagged(action)}))
        except Exception as error:
            answer = _line(name, "error", _error(error))
        del self._works[run]
        self.write(answer)


def perform(kind: StoreKind, name: str, arguments: Any, work: Any) -> Any:
    """Does work; returns its action."""
    result = call(kind.runs[name], arguments, work)
    return asyncio.run(_awaited(result)) if inspect.isawaitable(result) else result


async def _awaited(result: Any) -> Any:
    return await result


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


def _viewer(members: dict[str, Any]) -> Viewer:
    return Viewer(members.get("identity"), members.get("frontend"), members.get("role"))


def _line(name: Any, member: str, value: str) -> str:
    return f'{{"jsonrpc":"2.0","id":{json.dumps(name)},"{member}":{value}}}\n'


def _error(error: Exception) -> str:
    if isinstance(error, Refusal):
        data = {"path": error.path} | ({"limit": error.limit} if error.limit else {})
        return text({"code": -32602, "message": error.message, "data": data})
    if isinstance(error, NotImplementedError):
        return text({"code": -32601, "message": f"unknown method {error}"})
    traceback.print_exception(error)
    return text({"code": -32603, "message": f"{type(error).__name__}: {error}"})

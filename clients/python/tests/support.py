# SPDX-License-Identifier: Apache-2.0
"""Support of the tests: the program, the proxy that plants faults, and timeouts."""

from __future__ import annotations

import asyncio
import atexit
import os
import pathlib
import re
import socket
import sys
import tempfile
from collections.abc import Coroutine
from typing import Any

PROJECT = pathlib.Path(__file__).parents[3]
DATA = PROJECT / "clients" / "conformance"
PROGRAM = os.path.abspath(os.environ.get("STATEWIRE") or PROJECT / ".build" / "debug" / "statewire")
# The data directory without --data-dir, so that tests do not use the user's own.
STATE = tempfile.TemporaryDirectory(prefix="statewire-", ignore_cleanup_errors=True)
atexit.register(STATE.cleanup)
# The timeout of a test in seconds.
PATIENCE = float(os.environ.get("PATIENCE") or 120)

_LISTENING = re.compile(rb"listening on (\S+)\s*$")


def run(test: Coroutine[Any, Any, None]) -> None:
    """Runs a test with a timeout."""
    asyncio.run(asyncio.wait_for(test, PATIENCE))


class Listening:
    """A process that reports its address."""

    def __init__(self, process: asyncio.subprocess.Process, output: asyncio.StreamReader) -> None:
        self.process, self._output = process, output
        self.address = ""
        self.lines: list[str] = []
        self._reading: asyncio.Task[None] | None = None

    async def begin(self) -> None:
        while line := await self._output.readline():
            if found := _LISTENING.search(line):
                self.address = found.group(1).decode()
                self._reading = asyncio.create_task(self._read())
                return
            self.lines.append(line.decode())
        raise RuntimeError(f"it does not listen: {''.join(self.lines)}")

    async def _read(self) -> None:
        while line := await self._output.readline():
            self.lines.append(line.decode().rstrip("\n"))

    async def kill(self) -> None:
        """Kills the process and waits until its output was read."""
        if self.process.returncode is None:
            self.process.kill()
        await self.process.wait()
        if self._reading:
            await self._reading

    async def __aexit__(self, *_: object) -> None:
        await self.kill()


class Server(Listening):
    """Runs `statewire serve` on a port."""

    port = 0

    @staticmethod
    async def start(*options: str, listen: tuple[str, ...] = ("--tcp", "127.0.0.1:0")) -> Server:
        process = await asyncio.create_subprocess_exec(
            PROGRAM, "serve", *listen, *options,
            stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE, env={**os.environ, "XDG_STATE_HOME": STATE.name})
        assert process.stderr
        server = Server(process, process.stderr)
        await server.begin()
        return server

    async def __aenter__(self) -> Server:
        return self

    @property
    def url(self) -> str:
        return f"tcp://{self.address}"


class Proxy(Listening):
    """Runs `fault-proxy` or another proxy in front of a server. `lines` are the planted faults."""

    @staticmethod
    async def start(server: Server, *options: str, script: str = "fault-proxy") -> Proxy:
        process = await asyncio.create_subprocess_exec(
            sys.executable, str(DATA / script), server.address.rpartition("/")[2], *options,
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE)
        assert process.stdout
        proxy = Proxy(process, process.stdout)
        await proxy.begin()
        return proxy

    async def __aenter__(self) -> Proxy:
        return self

    @property
    def url(self) -> str:
        return f"tcp://{self.address}"

    async def vanish(self) -> None:
        """Makes `slow-proxy` turn all open connections half-open; returns when it has done so."""
        assert self.process.stdin
        count = len(self.lines)
        self.process.stdin.write(b"vanish\n")
        while len(self.lines) == count:
            await asyncio.sleep(0.001)


def free_port() -> int:
    """Finds a free port below the ephemeral range."""
    for port in range(21_000, 29_000):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port + os.getpid() % 1000))
            except OSError:
                continue
            return port + os.getpid() % 1000
    raise RuntimeError("no port is free")


def folder() -> tempfile.TemporaryDirectory[str]:
    """Makes a temporary folder."""
    return tempfile.TemporaryDirectory(prefix="statewire-", ignore_cleanup_errors=True)

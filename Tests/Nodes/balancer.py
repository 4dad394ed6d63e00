# SPDX-License-Identifier: Apache-2.0
"""A TCP load balancer: takes the nodes in turn and leaves out those that refuse connections.

`--balancer haproxy` of the chaos driver runs HAProxy instead.
"""

import asyncio
import contextlib
import itertools
import os
import shutil
import subprocess
import threading

from nodes import Broken, free_port


class Balancer:
    """Listens on one port, in a thread."""

    def __init__(self, targets, host):
        self.targets, self.host, self.port = targets, host, free_port()
        self._turn = itertools.count()
        ready = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve(ready)), daemon=True)
        self._thread.start()
        ready.wait(10)

    async def _serve(self, ready):
        server = await asyncio.start_server(self._accept, self.host, self.port)
        ready.set()
        await server.serve_forever()

    async def _accept(self, reader, writer):
        first = next(self._turn)
        for step in range(len(self.targets)):
            host, port = self.targets[(first + step) % len(self.targets)]
            try:
                there = await asyncio.wait_for(asyncio.open_connection(host, port), 1)
            except (OSError, asyncio.TimeoutError):
                continue
            tasks = [asyncio.ensure_future(self._copy(reader, there[1])),
                     asyncio.ensure_future(self._copy(there[0], writer))]
            await asyncio.wait(tasks, return_when=asyncio.ALL_COMPLETED)
            there[1].close()
            break
        writer.close()

    async def _copy(self, reader, writer):
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            while data := await reader.read(1 << 16):
                writer.write(data)
                await writer.drain()
        # An end in one direction is an end in both: clients and nodes that end expect no more.
        with contextlib.suppress(OSError):
            writer.close()

    def end(self):
        """The thread ends with the process."""


class HAProxy:
    """HAProxy with one listener for each list of targets; `ports` in the same order."""

    def __init__(self, folder, lists):
        program = shutil.which("haproxy") or "/usr/sbin/haproxy"
        if not os.access(program, os.X_OK):
            raise Broken("haproxy is not installed; use --balancer python")
        self.ports = [free_port() for _ in lists]
        path = os.path.join(folder, "haproxy.cfg")
        with open(path, "w", encoding="utf-8") as file:
            file.write("defaults\n  mode tcp\n  timeout connect 1s\n  timeout client 1h\n  timeout server 1h\n"
                       "  option redispatch 1\n  retries 3\n")
            for port, targets in zip(self.ports, lists, strict=True):
                file.write(f"listen p{port}\n  bind 127.0.0.1:{port}\n  balance roundrobin\n"
                           "  default-server check inter 500ms fall 1 rise 1 on-marked-down shutdown-sessions\n")
                file.writelines(f"  server n{number} {host}:{at}\n" for number, (host, at) in enumerate(targets))
        with open(os.path.join(folder, "haproxy.log"), "wb") as log:
            self.process = subprocess.Popen(
                [program, "-db", "-f", path], stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def end(self):
        self.process.terminate()
        self.process.wait()

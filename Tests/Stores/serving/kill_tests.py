# SPDX-License-Identifier: Apache-2.0
"""Tests of programs and servers that are killed at random under load: `served --kills NUMBER`."""

import os
import pathlib
import random
import signal
import sys
import time

from .case import ServingTestCase
from .load import COUNTING, Load
from .server import OPTIONS, Server


class KillTests(ServingTestCase):
    maxDiff = None

    def durable(self, handlers: str) -> Server:
        program = self.program(handlers)
        return self.serve("--data-dir", str(program.folder / "data"), k=program.command)

    def test_kills_under_load(self) -> None:
        server = self.durable(COUNTING)
        load = Load(server)
        seed = random.SystemRandom().randrange(1 << 32)
        chance = random.Random(seed)
        programs: set[int] = set()
        killed = {"program": 0, "server": 0}
        began = time.monotonic()
        for _ in range(OPTIONS.kills):
            if chance.random() < 0.7:
                self.wait(load.applies(20), "inputs are applied")
            time.sleep(chance.uniform(0, 0.4))
            kind = chance.choice(["program", "server"])
            killed[kind] += 1
            children = server.children()
            if kind == "program":
                while not any(map(runs, children)):
                    time.sleep(0.02)
                    children = server.children()
                load.disturbed.add(load.run)
                for child in children:
                    os.kill(child, signal.SIGKILL)
            else:
                server.kill()
                load.run += 1
                self.wait(lambda: not any(map(runs, children)), "the program ends with the server")  # noqa: B023
                server.start()
            programs.update(children)
        load.finish()
        seconds = time.monotonic() - began
        # A program that was killed several times is started again after at most 30 seconds.
        load.settle(quiet=40)
        faults = load.faults()
        programs.update(server.children())
        self.stop(server)
        self.assertEqual([program for program in programs if runs(program)], [], "programs that are left behind")
        print(
            f"seed {seed}: {killed['program']} kills of the program and {killed['server']} of the server in "
            f"{seconds:.0f} s; {load.total('applied')} inputs applied, {load.total('refused')} refused, "
            f"{load.total('repeated')} sent again, {load.total('unclear')} of them with an unknown outcome; "
            f"{sum(client.connections for client in load.clients)} connections", file=sys.stderr,
        )
        self.assertEqual(faults, [], f"seed {seed}")
        self.assertGreater(load.total("applied"), OPTIONS.kills)

    def test_faults_of_a_program_are_found(self) -> None:
        """The check above must be able to fail."""
        for fault, handler in {
            "applied twice": "count(mine, number); count(mine, number)",
            "a response and are lost": "count(mine, number) if number % 7 else None",
            "of their delayed actions": 'count(mine, number); mine["acted"] += number == 3',
        }.items():
            server = self.durable(COUNTING.replace("    count(mine, number)\n", f"    {handler}\n"))
            load = Load(server)
            self.wait(lambda: load.total("applied") > 100, "inputs are applied")  # noqa: B023
            load.finish()
            load.settle()
            found = load.faults()
            self.assertTrue(any(fault in text for text in found), (fault, found))


def runs(process: int) -> bool:
    """True if a process runs: it exists, and is not only left for its parent to be read."""
    try:
        return pathlib.Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False

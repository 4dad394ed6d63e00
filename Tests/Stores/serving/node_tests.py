# SPDX-License-Identifier: Apache-2.0
"""Tests of programs on two nodes with one PostgreSQL: `served --nodes`."""

import pathlib
import subprocess

from .case import Program, ServingTestCase
from .client import Client
from .load import COUNTING, Load
from .server import Server

POSTGRES = pathlib.Path(__file__).resolve().parents[2] / "Postgres/server"


class NodeTests(ServingTestCase):
    def nodes(self, program: Program) -> list[Server]:
        """Starts two nodes."""
        folder = self.folder()
        # PostgreSQL runs as another user if this one is root.
        folder.chmod(0o711)
        folder /= "postgres"
        self.addCleanup(subprocess.run, [POSTGRES, "kill", folder], check=True)
        database = subprocess.run(
            [POSTGRES, "start", folder], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, check=True)
        nodes = []
        for name in ("one", "two"):
            node = Server("--database", database.stdout.strip(), "--node", name, "--lease", "2", k=program.command)
            node.options += ["--advertise", f"127.0.0.1:{node.port}"]
            self.addCleanup(self.stop, node)
            node.start()
            nodes.append(node)
        return nodes

    def attached(self, node: Server, session: str, frontend: str, **revisions: int) -> tuple[Client, dict]:
        client = self.client(node)
        return client, client.call("session/attach", session=session, frontend=frontend, revisions=revisions)

    def test_store_moves_to_the_other_node(self) -> None:
        program = self.program(COUNTING)
        one, two = self.nodes(program)
        alice = self.client(one)
        session = alice.call("session/open", frontend="alice")["session"]
        for number in range(1, 6):
            alice.call("store/send", store="k", input={"n": number}, sequence=number)
        # Through the other node, the client has the same store in the same process.
        bob, _ = self.attached(two, session, "bob")
        bob.call("store/subscribe", store="k")
        bob.call("store/send", store="k", input={"n": 1}, sequence=1, settle=True)
        before = bob.call("store/state", store="k")
        self.assertEqual({name: mine["applied"] for name, mine in before["state"]["clients"].items()},
                         {"alice": 5, "bob": 1})
        self.assertEqual(alice.call("store/state", store="k"), before)
        self.wait(lambda: alice.call("store/state", store="k")["state"]["clients"]["alice"]["acted"] == 5, "the actions")
        before = alice.call("store/state", store="k")
        processes = {request["process"] for request in program.requests("input")}
        self.assertEqual(len(processes), 1)
        one.kill()
        alice, attached = self.attached(two, session, "alice", k=before["revision"])
        self.assertEqual((attached["sequence"], attached["stores"]), (5, {"k": {"replayed": 0}}))
        self.assertEqual(alice.call("store/state", store="k"), before)
        repeated = alice.call("store/send", store="k", input={"n": 5}, sequence=5)
        self.assertEqual(repeated, {"revision": before["revision"], "changed": False})
        applied = alice.call("store/send", store="k", input={"n": 6}, sequence=6)
        self.assertEqual(applied, {"revision": before["revision"] + 1, "changed": True})
        self.assertEqual(alice.state("k")["clients"]["alice"]["again"], [])
        self.assertEqual(program.requests("input")[-1]["process"] in processes, False)

    def test_nodes_are_killed_under_load(self) -> None:
        one, two = self.nodes(self.program(COUNTING))
        load = Load(one, two)
        for node in (one, two, one, two):
            self.wait(load.applies(300), "inputs are applied")
            node.kill()
            load.run += 1
            self.wait(load.applies(300), "the other node continues")
            node.start()
        load.finish()
        load.settle()
        self.assertEqual(load.faults(), [])

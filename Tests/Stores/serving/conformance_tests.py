# SPDX-License-Identifier: Apache-2.0
"""Tests with the conformance store."""

import os
import pathlib
import random
import signal
import tempfile
import time

from .case import ServingTestCase
from .client import RPCError
from .server import OPTIONS, Server


class ConformanceTests(ServingTestCase):
    def conformance(self, *options: str) -> Server:
        return self.serve(*options, store=OPTIONS.command)

    def test_update_comes_before_response(self) -> None:
        client = self.client(self.conformance())
        self.assertEqual(client.call("store/subscribe", store="store")["state"]["count"], 0)
        numbers = [client.send("store/send", store="store", input={"type": "add", "by": 1}) for _ in range(100)]
        client.response(numbers[-1])
        updates = [n["params"] for n in client.notifications if n["method"] == "store/changed"]
        self.assertEqual([u["revision"] for u in updates], list(range(1, 101)))
        self.assertEqual([u["applied"] for u in updates], numbers)
        self.assertEqual(client.state("store")["count"], 100)

    def test_refusals(self) -> None:
        client = self.client(self.conformance())
        with self.assertRaises(RPCError) as caught:
            client.input("store", "insert", id="a", title="", before=None)
        self.assertEqual((caught.exception.code, caught.exception.message), (-32602, "the title is empty"))
        self.assertEqual(caught.exception.data, {"path": "/input/title"})
        with self.assertRaises(RPCError) as caught:
            client.call("store/open", store="other", kind="store", config={"count": -1})
        self.assertEqual(caught.exception.data, {"path": "/config/count"})
        with self.assertRaises(RPCError) as caught:
            client.input("store", "crash")
        self.assertEqual(caught.exception.code, -32603)
        self.assertEqual(client.input("store", "add", by=2)["changed"], True)

    def test_settle_and_work(self) -> None:
        client = self.client(self.conformance())
        client.input("store", "chain", n=3)
        self.assertEqual(client.state("store")["count"], 3)
        client.input("store", "work", settle=True, arguments={"do": "give", "value": 7}, policies={})
        self.assertEqual(client.state("store")["last"], 7)
        client.input("store", "work", settle=True, arguments={"do": "fail", "message": "no"}, policies={})
        self.assertEqual(client.state("store")["log"][-1], "failed: error")
        client.input(
            "store", "work", settle=True, arguments={"do": "retry", "attempts": 3},
            policies={"retry": {"attempts": 3, "milliseconds": 1}},
        )
        self.assertEqual(client.state("store")["last"], 3)
        client.input("store", "work", settle=True, arguments={"do": "wait"}, policies={"timeout": 50})
        self.assertEqual(client.state("store")["log"][-1], "failed: timeout")

    def test_views_and_events(self) -> None:
        server = self.conformance()
        first, second = self.client(server), self.client(server)
        handle = first.call("session/open", frontend="alice")["session"]
        first.call("store/open", store="game", kind="store", config={"view": True})
        second.call("session/attach", session=handle, frontend="bob", revisions={})
        first.call("store/subscribe", store="game")
        second.call("store/subscribe", store="game")
        first.input("game", "add", by=1)
        deadline = time.monotonic() + 10
        while "you" not in first.state("game") and time.monotonic() < deadline:
            time.sleep(0.02)
        self.assertEqual(first.state("game")["you"], "alice")
        self.assertEqual(second.state("game")["you"], "bob")
        first.input("game", "shout", text="hi", to=["bob"])
        second.until(lambda: len([n for n in second.notifications if n["method"] == "store/event"]) == 2)
        first.call("ping")
        events = [n["params"]["event"] for n in first.notifications if n["method"] == "store/event"]
        self.assertEqual(events, [{"type": "echoed"}])

    def test_killed_program(self) -> None:
        server = self.conformance()
        client = self.client(server)
        client.call("store/subscribe", store="store")
        total, errors = 0, 0
        for round in range(20):
            for child in server.children():
                os.kill(child, signal.SIGKILL)
            for _ in range(20):
                try:
                    client.input("store", "add", by=1)
                    total += 1
                except RPCError as error:
                    self.assertEqual(error.code, -32603)
                    errors += 1
                    time.sleep(0.05)
            count = client.state("store")["count"]
            self.assertGreaterEqual(count, total)
            self.assertLessEqual(count, total + errors)
            total, errors = count, 0

    def test_killed_server(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            server = self.serve("--data-dir", folder + "/data", store=OPTIONS.command)
            client = self.client(server)
            handle = client.call("session/open", frontend="me")["session"]
            sequence, sent = 0, []
            for round in range(10):
                for _ in range(random.randrange(1, 30)):
                    sequence += 1
                    sent.append(sequence)
                    client.send("store/send", store="store", input={"type": "add", "by": 1}, sequence=sequence)
                time.sleep(random.random() * 0.05)
                children = server.children()
                server.kill()
                server.start()
                for child in children:
                    self.assertFalse(pathlib.Path(f"/proc/{child}/task").exists() and not zombie(child))
                client = self.client(server)
                attached = client.call("session/attach", session=handle, frontend="me", revisions={})
                for number in range(attached["sequence"] + 1, sequence + 1):
                    client.call("store/send", store="store", input={"type": "add", "by": 1}, sequence=number)
                deadline = time.monotonic() + 10
                while client.state("store")["count"] != sequence and time.monotonic() < deadline:
                    time.sleep(0.05)
                self.assertEqual(client.state("store")["count"], sequence)

    def test_timers_survive_the_server(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            server = self.serve("--data-dir", folder + "/data", store=OPTIONS.command)
            client = self.client(server)
            handle = client.call("session/open", frontend="me")["session"]
            client.input("store", "wait", milliseconds=1500)
            client.input(
                "store", "work", arguments={"do": "wait"}, policies={}
            )
            time.sleep(0.2)
            server.kill()
            server.start()
            client = self.client(server)
            client.call("session/attach", session=handle, frontend="me", revisions={})
            deadline = time.monotonic() + 15
            while len(client.state("store")["log"]) < 2 and time.monotonic() < deadline:
                time.sleep(0.05)
            self.assertEqual(sorted(client.state("store")["log"]), ["failed: interrupted", "woke"])


def zombie(process: int) -> bool:
    try:
        return pathlib.Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z"
    except OSError:
        return True

# SPDX-License-Identifier: Apache-2.0
"""Tests of stores that several sessions use: `shared` in the configuration file."""

import json
import pathlib
import shlex
import subprocess

from .case import Program, ServingTestCase
from .client import Client, RPCError
from .server import OPTIONS, Server

# Has the inputs, the number of timers that have ended, and the number of subscribers.
BOARD = """
def on_describe(params):
    return {"protocol": 1, "watchesViewers": True}

states = {}

def changed(params, **members):
    states[params["store"]] = state = states[params["store"]] | members
    return {"state": state}

def on_open(params):
    if flag("slow"):
        wait_for("go")
    states[params["store"]] = {"name": params["name"], "inputs": [], "ticks": 0, "here": 0}
    return {"state": states[params["store"]]}

def on_restore(params):
    states[params["store"]] = params["state"]
    return {}

def on_input(params):
    update = changed(params, inputs=states[params["store"]]["inputs"] + [params["input"]])
    update["effects"] = [{"type": "after", "milliseconds": 20, "action": "tick"}]
    return update

def on_action(params):
    return changed(params, ticks=states[params["store"]]["ticks"] + 1)

def on_viewers(params):
    return changed(params, here=len(params["viewers"]))
"""


class SharingTests(ServingTestCase):
    def configure(self, program: Program, by: str) -> pathlib.Path:
        settings = program.folder / "settings.yaml"
        words = json.dumps(shlex.split(program.command))
        settings.write_text(f"stores:\n  board:\n    command: {words}\n    shared: {by}\n")
        return settings

    def shared(self, program: Program, *options: str, by: str = "everyone") -> Server:
        """Starts a server whose sessions share the stores of a program."""
        return self.serve("--config", str(self.configure(program, by)), *options)

    def changed(self, before: str, after: str) -> tuple[Program, Server, Client]:
        """Restarts a server with another value of `shared`; returns also a client of a session from before."""
        program = self.program(BOARD)
        server = self.shared(program, "--data-dir", str(program.folder / "data"), by=before)
        client = self.client(server)
        handle = client.call("session/open", frontend="web")["session"]
        client.call("store/send", store="board", input="before")
        server.kill()
        self.configure(program, after)
        server.start()
        client = self.client(server)
        client.call("session/attach", session=handle, frontend="web", revisions={})
        return program, server, client

    def test_sessions_use_one_store(self) -> None:
        program = self.program(BOARD)
        server = self.shared(program)
        clients = [self.client(server) for _ in range(3)]
        for client in clients:
            client.call("store/subscribe", store="board")
        for number in range(30):
            clients[number % 3].call("store/send", store="board", input=number, settle=True)
        states = [client.state("board") for client in clients]
        self.assertEqual(states[0]["inputs"], list(range(30)))
        self.assertEqual(states[0]["ticks"], 30)
        self.assertEqual(states[1:], states[:1] * 2)
        for client in clients:
            client.until(lambda: client.notifications[-1]["params"]["revision"] >= 60)
            applied = {n["params"].get("applied") for n in client.notifications} - {None}
            self.assertEqual(len(applied), 10)
        self.wait(lambda: clients[0].state("board")["here"] == 3, "the program knows the subscribers")
        # The second and third session found the store open.
        self.assertEqual(len(program.requests("open")), 1)

    def test_two_sessions_open_a_store_at_the_same_time(self) -> None:
        program = self.program(BOARD)
        server = self.shared(program)
        program.set("slow")
        first, second = self.client(server), self.client(server)
        numbers = [client.send("store/open", store="b", kind="board") for client in (first, second)]
        self.wait(lambda: program.requests("open"), "the program opens a store")
        # After the second request.
        self.client(server).call("ping")
        program.set("go")
        for client, number in zip((first, second), numbers, strict=True):
            self.assertIn("result", client.response(number))
        first.call("store/send", store="b", input=1)
        self.assertEqual(second.state("b")["inputs"], [1])
        # The program forgets the store that no session uses.
        self.assertEqual(len(program.requests("open")), 2)
        self.wait(lambda: len(program.requests("close")) == 1, "the second store is closed")

    def test_shared_store_continues_after_a_kill(self) -> None:
        program = self.program(BOARD)
        server = self.shared(program, "--data-dir", str(program.folder / "data"))
        clients = [self.client(server) for _ in range(2)]
        handles = [client.call("session/open", frontend="web")["session"] for client in clients]
        for number, client in enumerate(clients * 5):
            client.call("store/send", store="board", input=number)
        server.kill()
        server.start()
        clients = [self.client(server) for _ in range(2)]
        for handle, client in zip(handles, clients, strict=True):
            client.call("session/attach", session=handle, frontend="web", revisions={})
        self.accepted(clients[0], "board", 10)
        self.assertEqual(clients[1].state("board")["inputs"], list(range(11)))
        self.wait(lambda: clients[1].state("board")["ticks"] == 11, "the timers have ended")
        self.assertEqual(len(program.requests("open")), 1)

    def test_sessions_of_other_identities_have_another_store(self) -> None:
        program = self.program(BOARD)
        tokens = program.folder / "tokens"
        tokens.write_text(f"sue {'1' * 32}\nann {'2' * 32}\n")
        tokens.chmod(0o600)
        server = self.shared(program, "--token-file", str(tokens), by="identity")

        def client(token: str) -> Client:
            client = self.client(server)
            client.call("initialize", token=token * 32)
            return client

        sue, same, ann = client("1"), client("1"), client("2")
        sue.call("store/send", store="board", input="of Sue")
        self.assertEqual(same.state("board")["inputs"], ["of Sue"])
        self.assertEqual(ann.state("board")["inputs"], [])

    def test_another_configuration_is_refused(self) -> None:
        server = self.shared(self.program(BOARD))
        first, second = self.client(server), self.client(server)
        first.call("store/open", store="b", kind="board", config={"a": 1})
        with self.assertRaises(RPCError) as caught:
            second.call("store/open", store="b", kind="board", config={"a": 2})
        self.assertEqual(caught.exception.code, -32018)

    def test_program_does_not_open_more_stores_than_the_server_has_places(self) -> None:
        program = self.program(BOARD)
        server = self.shared(program, "--maximum-sessions", "1")
        client = self.client(server)
        client.call("store/send", store="board", input=1)
        for name in "abc":
            with self.assertRaises(RPCError) as caught:
                client.call("store/open", store=name, kind="board")
            self.assertEqual(caught.exception.code, -32015)
        self.assertEqual(len(program.requests("open")), 1)

    def test_stores_of_sessions_become_shared(self) -> None:
        program, server, client = self.changed("session", "everyone")
        self.assertIn("are shared by sessions now", server.text())
        client.call("store/open", store="board", kind="board")
        self.accepted(client, "board", "after")
        self.assertEqual(client.state("board")["inputs"], ["after"])
        # The state of the session is kept aside.
        server.kill()
        words = [OPTIONS.program, "journal", "list", "--data-dir", str(program.folder / "data")]
        listed = subprocess.run(words, capture_output=True, text=True, check=True).stdout
        self.assertIn("the stores of the kind \"board\" are shared by sessions now", listed)

    def test_shared_stores_become_those_of_sessions(self) -> None:
        """The program was asked to restore a store without a state, and failed at each input."""
        program, server, client = self.changed("everyone", "session")
        self.assertIn("are not shared by sessions any more", server.text())
        client.call("store/open", store="board", kind="board")
        self.accepted(client, "board", "after")
        self.assertEqual(client.state("board")["inputs"], ["after"])
        self.assertEqual([request["state"] for request in program.requests("restore")], [])

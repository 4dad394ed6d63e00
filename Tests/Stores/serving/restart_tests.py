# SPDX-License-Identifier: Apache-2.0
"""Tests of servers that are killed and started again, with --data-dir."""

import json

from .case import Program, ServingTestCase
from .client import Client
from .server import Server


class RestartTests(ServingTestCase):
    def durable(self, program: Program) -> tuple[Server, Client, str]:
        """Starts a server; returns also the handle of a new session, and its client."""
        server = self.serve("--data-dir", str(program.folder / "data"), k=program.command)
        client = self.client(server)
        return server, client, client.call("session/open", frontend="alice")["session"]

    def attached(self, server: Server, handle: str, frontend: str = "alice") -> Client:
        client = self.client(server)
        client.call("session/attach", session=handle, frontend=frontend, revisions={})
        return client

    def test_input_with_chained_effects_is_applied_once(self) -> None:
        program = self.program("""
states = {}

def on_open(params):
    states[params["store"]] = {"count": 0, "acted": False}
    return {"state": states[params["store"]]}

def on_restore(params):
    states[params["store"]] = params["state"]
    return {}

def on_input(params):
    state = states[params["store"]]
    if params["input"] != "count":
        return {}
    state["count"] += 1
    return {"state": state, "effects": [{"type": "after", "milliseconds": 50, "action": "first"}]}

def on_action(params):
    state = states[params["store"]]
    state["acted"] = True
    # This one is in progress when the server is killed.
    return {"state": state, "effects": [{"type": "after", "milliseconds": 600000, "action": "second"}]}
""")
        server, client, handle = self.durable(program)
        client.call("store/send", store="k", input="count")
        self.wait(lambda: client.state("k")["acted"], "the first action is applied")
        for _ in range(2):
            server.kill()
            server.start()
            client = self.attached(server, handle)
            self.accepted(client, "k", "nothing")
            self.assertEqual(client.state("k"), {"count": 1, "acted": True})
        self.assertEqual(len(program.requests("input", input="count")), 1)
        self.assertEqual(len(program.requests("restore")), 2)

    def test_input_with_an_ended_effect_is_applied_once(self) -> None:
        """An action of the effect has no response when the server is killed."""
        program = self.program("""
states = {}

def on_open(params):
    states[params["store"]] = {"count": 0}
    return {"state": states[params["store"]]}

def on_restore(params):
    states[params["store"]] = params["state"]
    return {}

def on_input(params):
    if params["input"] != "count":
        return {}
    states[params["store"]]["count"] += 1
    return {"state": states[params["store"]], "effects": [{"type": "run", "name": "work"}]}

def on_run(params):
    sent = {"store": params["store"], "run": params["run"], "action": "progress"}
    print(json.dumps({"jsonrpc": "2.0", "method": "machine/send", "params": sent}), flush=True)
    return {}

def on_action(params):
    wait_for("continue")
    return {}
""")
        server, client, handle = self.durable(program)
        client.call("session/trace", on=True)
        client.call("store/send", store="k", input="count")
        self.wait(lambda: program.requests("action"), "the action is sent")
        self.wait(lambda: "dropped" in client.actions(), "the effect has ended in the journal")
        server.kill()
        program.set("continue")
        server.start()
        client = self.attached(server, handle)
        self.accepted(client, "k", "nothing")
        self.assertEqual(client.state("k"), {"count": 1})
        self.assertEqual(len(program.requests("input", input="count")), 1)

    def test_private_views_and_events_stay_private(self) -> None:
        """The program cannot start when the server does."""
        program = self.program("""
if flag("broken"):
    sys.exit(1)

def on_describe(params):
    return {"protocol": 1, "viewsBy": "frontend"}

def on_open(params):
    views = {name: {"view": {"you": name}} for name in ("alice", "bob")}
    return {"state": {"n": 0}, "view": {"you": "unknown"}, "views": views}

def on_input(params):
    return {"events": [{"event": {"secret": "for alice"}, "to": ["alice"]}]}
""")
        server, client, handle = self.durable(program)
        self.assertEqual(client.call("store/subscribe", store="k")["state"], {"you": "alice"})
        program.set("broken")
        server.kill()
        server.start()
        program.clear("broken")
        alice, bob = self.attached(server, handle), self.attached(server, handle, "bob")
        alice.call("store/subscribe", store="k")
        received = bob.call("store/subscribe", store="k")
        self.accepted(alice, "k", {})
        alice.until(lambda: any(note["method"] == "store/event" for note in alice.notifications))
        bob.call("ping")
        self.assertNotIn("alice", json.dumps([received, bob.notifications]))
        self.assertEqual(alice.state("k"), {"you": "alice"})
        self.assertEqual(bob.state("k"), {"you": "bob"})

    def test_view_of_null_hides_the_state(self) -> None:
        program = self.program("""
def on_open(params):
    return {"state": {"secret": 1}, "view": None}

def on_input(params):
    return {"state": {"secret": 2}}
""")
        server, client, handle = self.durable(program)
        self.assertIsNone(client.call("store/subscribe", store="k")["state"])
        server.kill()
        server.start()
        client = self.attached(server, handle)
        self.assertIsNone(client.call("store/subscribe", store="k")["state"])
        self.accepted(client, "k", {})
        self.assertIsNone(client.state("k"))
        self.assertNotIn("secret", json.dumps(client.notifications))

    def test_views_of_absent_viewers_are_removed(self) -> None:
        """The next process does not know them, so nothing changed them any more."""
        program = self.program("""
def on_describe(params):
    return {"protocol": 1, "viewsBy": "frontend", "watchesViewers": True}

def on_viewers(params):
    return {"views": {each["frontend"]: {"view": "own"} for each in params["viewers"]}}
""")
        server, client, handle = self.durable(program)
        client.call("store/subscribe", store="k")
        self.wait(lambda: client.state("k") == "own", "alice has a view")
        server.kill()
        server.start()
        client = self.attached(server, handle)
        self.accepted(client, "k", {})
        self.assertEqual(client.state("k"), {"n": 0})
        client.call("store/subscribe", store="k")
        self.wait(lambda: client.state("k") == "own", "alice has a view again")

    def test_viewers_follow_the_restoring(self) -> None:
        """The viewers of the earlier server are not viewers of the next one."""
        program = self.program("""
def on_describe(params):
    return {"protocol": 1, "watchesViewers": True}
""")
        server, client, handle = self.durable(program)
        client.call("store/subscribe", store="k")
        self.wait(
            lambda: program.requests("viewers") and program.requests("viewers")[-1]["viewers"],
            "the program knows the viewer",
        )
        before = len(program.requests())
        server.kill()
        server.start()
        client = self.attached(server, handle)
        self.accepted(client, "k", {})

        def since() -> list[tuple[str, list | None]]:
            return [
                (request["method"], request.get("viewers"))
                for request in program.requests()[before:]
            ]

        self.assertEqual(since()[:4], [("describe", None), ("restore", None), ("viewers", []), ("input", None)])
        client.call("store/subscribe", store="k")
        self.wait(
            lambda: program.requests("viewers")[-1]["viewers"]
            and program.requests("viewers")[-1]["viewers"][0]["frontend"] == "alice",
            "the program knows the new viewer",
        )

    def test_input_without_update_is_sent_again_with_its_viewer(self) -> None:
        program = self.program("""
def on_input(params):
    if not flag("release"):
        time.sleep(600)
    return {"state": params["viewer"]}
""")
        server, client, handle = self.durable(program)
        # Its number has digits that a conversion of JSON would lose.
        number = 9007199254740993
        client.send("store/send", store="k", input={"number": number, "viewer": {}, "input": 1}, sequence=1)
        self.wait(lambda: program.requests("input"), "the program has the input")
        # The journal has the input when the response to a later request has come.
        client.call("ping")
        server.kill()
        program.set("release")
        server.start()
        client = self.attached(server, handle)
        alice = {"identity": None, "frontend": "alice", "role": "driver"}
        self.wait(lambda: client.state("k") == alice, "the input is applied")
        first, again = program.requests("input")
        self.assertEqual((again["input"], again["viewer"]), (first["input"], first["viewer"]))
        self.assertEqual(again["input"]["number"], number)

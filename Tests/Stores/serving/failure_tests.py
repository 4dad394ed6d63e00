# SPDX-License-Identifier: Apache-2.0
"""Tests of programs that end."""

import os
import signal
import time

from .case import Program, ServingTestCase
from .client import Client, RPCError

# The inputs are lists of effects, or "end".
EFFECTS = """
import threading

def on_input(params):
    if params["input"] == "end":
        raise SystemExit(3)
    return {"effects": params["input"]}

def on_action(params):
    if params["action"] == "poison":
        os._exit(7)
    if params["action"] == "wrong":
        time.sleep(0.2)
        return {"patch": 5}
    return {"state": {"n": 1}} if params["action"] == "right" else {}

def on_run(params):
    if params["name"] == "poison":
        os._exit(7)
    if params["name"] == "late":
        threading.Timer(0.1, os._exit, [7]).start()
"""


def run(name: str) -> dict:
    """Returns an effect whose work begins again in the next process."""
    return {"type": "run", "name": name, "restart": "again"}


class FailureTests(ServingTestCase):
    def test_programs_that_end_immediately(self) -> None:
        kinds = [f"k{number}" for number in range(8)]
        for _ in range(15):
            server = self.serve(**{kind: "true" for kind in kinds})
            client = self.client(server)
            for kind in kinds:
                self.stops(client, kind, {})
            self.assertIsNone(server.process.poll(), server.text())
            client.close()
            self.stop(server)

    def test_many_stores_are_restored(self) -> None:
        """All together take longer than the time limit of one request."""
        program = self.program("""
def on_restore(params):
    time.sleep(0.03)
    return {}
""")
        server = self.serve(k=program.command)
        client = self.client(server)
        names = [f"s{number}" for number in range(400)]
        for name in names:
            client.call("store/open", store=name, kind="k", config={})
        os.kill(program.requests()[0]["process"], signal.SIGKILL)
        self.wait(lambda: program.starts() == 2, "the program is started again")
        self.accepted(client, names[-1], {})
        for name in names:
            client.call("store/send", store=name, input={})
        self.assertEqual(program.starts(), 2)

    def poisoned(self, effects: list[dict], method: str, **members: object) -> Program:
        """Lets a store ask for something at which the program ends; another store must continue."""
        program = self.program(EFFECTS)
        server = self.serve(k=program.command)
        client, bad = self.client(server), self.client(server)
        client.call("store/send", store="k", input=[])
        if method == "action":
            client.call("store/send", store="k", input=[run("long")])
            # Otherwise it may begin just before the action, and is suspected first.
            self.wait(lambda: program.requests("run", name="long"), "the work begins")
        bad.send("store/send", store="k", input=effects)
        self.wait(lambda: len(program.requests(method, **members)) >= 3, "the program ends three times")
        self.accepted(client, "k", [])
        for _ in range(20):
            client.call("store/send", store="k", input=[])
        self.assertEqual(len(program.requests(method, **members)), 3)
        self.accepted(bad, "k", [])
        return program

    def test_poison_action(self) -> None:
        program = self.poisoned([{"type": "action", "action": "poison"}], "action", action="poison")
        # The other store has work that began before; it begins again in each process.
        newest = program.requests()[-1]["process"]
        self.assertEqual(len(program.requests("run", process=newest, name="long")), 1)

    def test_poison_work(self) -> None:
        program = self.poisoned([run("good"), run("poison")], "run", name="poison")
        # The work that began at the same time continues.
        newest = program.requests()[-1]["process"]
        self.assertEqual(len(program.requests("run", process=newest, name="good")), 1)

    def test_poison_work_under_load(self) -> None:
        """Requests of other stores wait in the program when it ends."""
        # For work that ends the program later, other work is suspected as well, so each failure counts half.
        for name, runs in (("poison", 3), ("late", 6)):
            program = self.program(EFFECTS)
            server = self.serve(k=program.command)
            client, bad = self.client(server), self.client(server)
            client.call("store/send", store="k", input=[])
            bad.send("store/send", store="k", input=[run(name)])

            def ends(program: Program = program, client: Client = client, name: str = name, runs: int = runs) -> bool:
                for _ in range(100):
                    client.send("store/send", store="k", input=[])
                client.response(client.send("store/send", store="k", input=[]))
                return len(program.requests("run", name=name)) >= runs

            self.wait(ends, "the program ends three times")
            self.accepted(client, "k", [])
            self.accepted(bad, "k", [])
            self.assertEqual(len(program.requests("run", name=name)), runs)

    def test_work_with_a_wrong_response(self) -> None:
        """It was repeated without end: a response that breaks the protocol counted as a success."""
        program = self.program("""
def on_input(params):
    return {"effects": params["input"]}

def on_run(params):
    respond(None)
""")
        client = self.client(self.serve(k=program.command))
        client.send("store/send", store="k", input=[run("wrong")])
        self.wait(lambda: len(program.requests("run")) >= 3, "three wrong responses")
        self.accepted(client, "k", [])
        self.assertEqual(len(program.requests("run")), 3)

    def test_poison_work_beside_many_stores(self) -> None:
        """Stores that were restored at that time were suspected in its place, and refused their inputs."""
        program = self.program(EFFECTS)
        server = self.serve(k=program.command)
        client = self.client(server)
        names = [f"s{number}" for number in range(200)]
        for name in names:
            client.call("store/open", store=name, kind="k", config={})
        client.send("store/send", store=names[0], input=[run("poison")])
        self.wait(lambda: len(program.requests("run")) >= 3, "the program ends three times")
        self.accepted(client, names[-1], [])
        for name in names:
            client.call("store/send", store=name, input=[])
        self.assertEqual(len(program.requests("run")), 3)

    def test_action_after_one_with_a_wrong_response(self) -> None:
        program = self.program(EFFECTS)
        client = self.client(self.serve(k=program.command))
        actions = [{"type": "action", "action": action} for action in ("wrong", "right")]
        client.call("store/send", store="k", input=actions)
        self.wait(lambda: len(program.requests("action", action="wrong")) >= 3, "three wrong responses")
        self.accepted(client, "k", [])
        self.assertEqual(client.state("k"), {"n": 1})

    def test_poison_viewers(self) -> None:
        program = self.program("""
def on_describe(params):
    return {"protocol": 1, "watchesViewers": True}

def on_viewers(params):
    if any(viewer["frontend"] == "poison" for viewer in params["viewers"]):
        os._exit(7)
    return {}
""")
        server = self.serve(k=program.command)
        client, bad = self.client(server), self.client(server)
        client.call("store/send", store="k", input={})
        bad.call("session/open", frontend="poison")
        bad.send("store/subscribe", store="k")

        def crashes() -> int:
            return len([request for request in program.requests("viewers") if request["viewers"]])

        self.wait(lambda: crashes() >= 3, "the program ends three times")
        self.accepted(client, "k", {})
        for _ in range(20):
            client.call("store/send", store="k", input={})
        self.accepted(bad, "k", {})
        self.assertEqual(crashes(), 3)

    def test_each_exit_is_logged(self) -> None:
        program = self.program(EFFECTS)
        server = self.serve(k=program.command)
        client = self.client(server)
        client.call("store/send", store="k", input=[])
        self.stops(client, "k", "end")
        self.accepted(client, "k", [])
        # It has run for a while, so that its next end is not one of a series.
        end = time.monotonic() + 11
        while time.monotonic() < end:
            client.call("store/send", store="k", input=[])
            time.sleep(0.1)
        self.stops(client, "k", "end")
        self.accepted(client, "k", [])
        self.assertEqual(server.text().count("exit code 3"), 2, server.text())

    def test_last_line_of_standard_error_is_logged(self) -> None:
        program = self.program("""
def on_input(params):
    print("a line before", file=sys.stderr)
    raise ValueError("the invariant 17 is broken")
""")
        server = self.serve(k=program.command)
        client = self.client(server)
        client.call("store/open", store="k", kind="k", config={})
        self.stops(client, "k", {})
        self.wait(lambda: "exit code 1" in server.text(), "the end is logged")
        [line] = [line for line in server.text().splitlines() if "exit code 1" in line]
        self.assertIn("ValueError: the invariant 17 is broken", line)

    def test_failure_after_many_lines_is_logged(self) -> None:
        """A long traceback had used up the lines of the log, also those of the server."""
        program = self.program("""
def on_input(params):
    print("a line\\n" * 100, file=sys.stderr)
    raise Failure("the invariant 17 is broken")
""")
        server = self.serve("--log-level", "info", k=program.command)
        client = self.client(server)
        client.call("store/open", store="k", kind="k", config={})
        self.stops(client, "k", {})
        self.wait(lambda: "the invariant 17 is broken" in server.text(), "the failure is logged")
        self.wait(lambda: "lines are dropped" in server.text(), "the dropped lines are logged")

    def test_exit_code_of_a_program_that_closes_its_output_first(self) -> None:
        """An interpreter does so. The program was killed before it had ended, and the log said so."""
        program = self.program("""
def on_input(params):
    os.close(1)
    time.sleep(0.2)
    os._exit(3)
""")
        server = self.serve(k=program.command)
        client = self.client(server)
        client.call("store/open", store="k", kind="k", config={})
        self.stops(client, "k", {})
        self.wait(lambda: "the program has ended (exit code 3)" in server.text(), "the end is logged")

    def test_cancelled_work_does_not_begin(self) -> None:
        """The work waits for the program when its time is over."""
        program = self.program("""
if flag("down"):
    sys.exit(2)

def on_input(params):
    if params["input"] == "work":
        (FOLDER / "down").touch()
        respond({"effects": [{"type": "run", "name": "mail", "id": "m", "debounce": 300, "timeout": 1500}]})
        os._exit(2)
    return {}
""")
        client = self.client(self.serve(k=program.command))
        client.call("store/open", store="k", kind="k", config={})
        # The response comes when the work has ended.
        try:
            client.call("store/send", store="k", input="work", settle=True)
        except RPCError as error:
            self.assertEqual(error.code, -32603)
        program.clear("down")
        self.accepted(client, "k", "next")
        self.accepted(client, "k", "next")
        self.assertEqual(program.requests("run"), [])

# SPDX-License-Identifier: Apache-2.0
"""Tests of effects that a program leaves pending, while the next program cannot restore their store."""

import time

from .case import ServingTestCase

# The restoring fails after the time of the pending action, so that the action waits for its response.
BROKEN = """
def on_restore(params):
    time.sleep(1)
    while time.time() * 1000 < params["state"]["due"] + 500:
        time.sleep(0.01)
    raise Failure("the migration is broken")

def on_action(params):
    raise Failure("no such store")
"""
TIMER = """
def on_open(params):
    return {"state": {"due": 0}}

def on_input(params):
    if params["input"] is None:
        return {}
    due = params["now"] + params["input"]
    return {"state": {"due": due}, "effects": [
        {"type": "after", "milliseconds": params["input"], "action": "ring"}]}

def on_action(params):
    return {"state": "rang"}
"""


class TimerTests(ServingTestCase):
    def test_timer_survives_a_broken_program_and_the_server(self) -> None:
        program = self.program(TIMER)
        server = self.serve("--data-dir", str(program.folder / "data"), k=program.command)
        client = self.client(server)
        handle = client.call("session/open", frontend="me")["session"]
        client.call("store/send", store="k", input=1000)
        server.kill()
        program.save(BROKEN)
        time.sleep(1)
        server.start()
        self.wait(lambda: "the migration is broken" in server.text(), "the restoring fails")
        client = self.client(server)
        client.call("session/attach", session=handle, frontend="me", revisions={})
        self.stops(client, "k", None)
        server.kill()
        program.save(TIMER)
        server.start()
        client = self.client(server)
        client.call("session/attach", session=handle, frontend="me", revisions={})
        self.wait(lambda: client.state("k") == "rang", "the action is applied")

    def test_repetition_that_other_work_has_ended_stays_ended(self) -> None:
        program = self.program("""
def on_input(params):
    if params["input"] is None:
        return {}
    return {"effects": [params["input"]]}

def on_run(params):
    return {}
""")
        server = self.serve("--data-dir", str(program.folder / "data"), k=program.command)
        client = self.client(server)
        handle = client.call("session/open", frontend="me")["session"]
        client.call("session/trace", on=True)
        client.call("store/send", store="k", input={
            "type": "every", "id": "clock", "milliseconds": 20, "action": "tick"})
        self.wait(lambda: program.requests("action", action="tick"), "it runs")
        client.call("store/send", store="k", input={
            "type": "run", "name": "work", "id": "clock", "latest": True})
        self.wait(lambda: client.actions().count("dropped") == 2, "it has ended, and the work")
        server.kill()
        server.start()
        client = self.client(server)
        client.call("session/attach", session=handle, frontend="me", revisions={})
        self.accepted(client, "k", None)
        ticks = len(program.requests("action", action="tick"))
        client.call("store/send", store="k", input={
            "type": "after", "milliseconds": 200, "action": "later"})
        self.wait(lambda: program.requests("action", action="later"), "ten ticks would be due")
        self.assertEqual(len(program.requests("action", action="tick")), ticks)

    def test_one_action_of_a_repetition_waits_for_a_slow_program(self) -> None:
        program = self.program("""
def on_input(params):
    return {"effects": [params["input"]]}

def on_action(params):
    if params["action"] == "tick":
        wait_for("continue")
    return {}
""")
        client = self.client(self.serve(k=program.command))
        client.call("store/send", store="k", input={
            "type": "every", "id": "clock", "milliseconds": 1, "action": "tick"})
        self.wait(lambda: program.requests("action", action="tick"), "the program works at the first one")
        later = client.send("store/send", store="k", input={
            "type": "after", "milliseconds": 0, "action": "later"})
        # Hundreds of times pass.
        other = self.client(self.serve(k=self.program("""
def on_input(params):
    return {"effects": [{"type": "after", "milliseconds": 300, "action": 1}]}
""").command))
        other.call("store/send", store="k", input=None, settle=True)
        program.set("continue")
        client.response(later)
        self.wait(lambda: program.requests("action", action="later"), "the other action follows")
        before = [each["action"] for each in program.requests("action")]
        self.assertLess(before.index("later"), 50)

    def test_debounced_work_does_not_end_the_work_that_runs(self) -> None:
        program = self.program("""
def on_input(params):
    effect = {"type": "run", "name": "save", "id": "save", params["input"]: 50}
    return {"effects": [effect]}
""")
        client = self.client(self.serve(k=program.command))
        for window in ("debounce", "throttle"):
            before = len(program.requests("run"))
            for count in (1, 2):
                client.call("store/send", store="k", input=window)
                self.wait(lambda: len(program.requests("run")) == before + count, "the work begins")
        self.assertEqual(program.requests("cancel"), [])

    def test_timer_survives_a_broken_program(self) -> None:
        program = self.program(TIMER)
        server = self.serve("--watch", k=program.command)
        client = self.client(server)
        # Long enough for the broken program to start before.
        client.call("store/send", store="k", input=3000)
        program.save(BROKEN)
        self.wait(lambda: "the migration is broken" in server.text(), "the restoring fails")
        self.stops(client, "k", None)
        program.save(TIMER)
        self.wait(lambda: client.state("k") == "rang", "the action is applied")

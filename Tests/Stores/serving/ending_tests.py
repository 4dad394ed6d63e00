# SPDX-License-Identifier: Apache-2.0
"""Tests of sessions and servers that end while a program works."""

from .case import ServingTestCase


class EndingTests(ServingTestCase):
    def test_session_is_closed_while_a_store_opens(self) -> None:
        program = self.program("""
def on_open(params):
    wait_for("release")
    tick = {"type": "every", "id": "t", "milliseconds": 20, "action": "tick"}
    return {"state": {"n": 0}, "effects": [tick]}
""")
        server = self.serve("--shards", "1", k=program.command)
        first, second = self.client(server), self.client(server)
        handle = first.call("session/open", frontend="first")["session"]
        second.call("session/attach", session=handle, frontend="second", revisions={})
        number = first.send("store/send", store="k", input={})
        self.wait(lambda: program.requests("open"), "the program opens the store")
        second.call("session/close")
        program.set("release")
        self.assertIn("error", first.response(number))
        first.close()
        second.close()
        # The program has answered the requests for the closed session before those of this one.
        third = self.client(server)
        third.call("store/send", store="k", input={})
        store = program.requests("open")[-1]["store"]
        self.wait(lambda: len(program.requests("action", store=store)) > 3, "another store works")
        third.call("ping")
        self.assertIsNone(server.process.poll(), server.text())
        closed = program.requests("open")[0]["store"]
        self.assertEqual(program.requests("action", store=closed), [])

    def test_server_stops_beside_a_program_that_does_not_describe_itself(self) -> None:
        silent, good = self.program("time.sleep(1000)"), self.program()
        # One thread takes the requests of both connections, in their order.
        server = self.serve("--shards", "1", silent=silent.command, good=good.command)
        self.client(server).send("store/send", store="silent", input={})
        self.client(server).call("store/send", store="good", input={})
        # It checks the exit code and the log.
        self.stop(server)

    def test_server_stops_beside_a_program_that_does_not_open_a_store(self) -> None:
        program = self.program('def on_open(params): wait_for("never")')
        server = self.serve(k=program.command)
        self.client(server).send("store/send", store="k", input={})
        self.wait(lambda: program.requests("open"), "the program opens the store")
        self.stop(server)

    def test_program_ends_with_its_input(self) -> None:
        """It has the time to write a file."""
        program = self.program("""
import atexit

@atexit.register
def end():
    time.sleep(0.2)
    (FOLDER / "ended").touch()
""")
        server = self.serve(k=program.command)
        self.client(server).call("store/send", store="k", input={})
        self.stop(server)
        self.assertTrue((program.folder / "ended").exists())

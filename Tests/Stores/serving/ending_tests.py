# SPDX-License-Identifier: Apache-2.0
"""Tests of sessions and servers that end while a program works."""

import json
import os
import shlex
import subprocess

from .case import ServingTestCase
from .server import OPTIONS, Server


def refuses(server: Server) -> bool:
    """Returns true if the server accepts no connection."""
    try:
        server.client().close()
    except OSError:
        return True
    return False


class EndingTests(ServingTestCase):
    def test_inputs_get_their_responses_after_sigterm(self) -> None:
        program = self.program("""
def on_input(params):
    wait_for("continue")
    return {"state": {"n": params["input"]}}
""")
        server = self.serve(k=program.command)
        client = self.client(server)
        numbers = [client.send("store/send", store="k", input=number) for number in range(1, 21)]
        self.wait(lambda: program.requests("input"), "the program works at the first one")
        # A request that the server has not received gets no response.
        client.call("ping")
        server.process.terminate()
        self.wait(lambda: refuses(server), "the server ends")
        program.set("continue")
        for number in numbers:
            self.assertEqual(client.response(number)["result"]["changed"], True)

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
        # The program has responded to the requests for the closed session before those of this one.
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

    def test_server_stops_before_a_program_has_described_itself(self) -> None:
        """It left the process, and under test the data folder."""
        program = self.program('(FOLDER / "process").write_text(f"{os.getpid()}\\n")\ntime.sleep(1000)')
        temporary, socket = self.folder(), program.folder / "socket"
        for options in [["--test"], ["--unix", str(socket)]]:
            server = Server(*options, k=program.command)
            server.environment["TMPDIR"] = str(temporary)
            self.addCleanup(self.stop, server)
            server.begin()
            process = program.folder / "process"
            self.wait(lambda: process.exists() and process.read_text().endswith("\n"), "the program starts")
            number = int(process.read_text())
            process.unlink()
            self.stop(server)
            self.assertEqual(list(temporary.iterdir()), [])
            self.assertFalse(socket.exists())
            with self.assertRaises(ProcessLookupError):
                os.kill(number, 0)

    def test_end_of_input_beside_a_program_that_does_not_describe_itself(self) -> None:
        """Each request waited for another start of the program."""
        program = self.program("time.sleep(1000)")
        settings = program.folder / "settings.yaml"
        words = ", ".join(json.dumps(word) for word in shlex.split(program.command))
        settings.write_text(f"stores:\n  k:\n    command: [{words}]\n    time-limit: 2\n")
        requests = [
            json.dumps({"jsonrpc": "2.0", "id": id, "method": "store/subscribe", "params": {"store": "k"}})
            for id in range(8)
        ]
        for options in [], ["--test"]:
            done = subprocess.run(
                [OPTIONS.program, "serve", "--config", settings, *options], input="\n".join(requests),
                capture_output=True, text=True, timeout=600, check=True)
            codes = [json.loads(line)["error"]["code"] for line in done.stdout.splitlines()]
            self.assertEqual(codes, [-32603] * len(requests))
            # The first failure, and at most one more.
            self.assertLessEqual(done.stderr.count("did not respond within"), 2, done.stderr)

    def test_input_for_a_program_that_hangs_at_its_next_start(self) -> None:
        """It got no response: a start that had exceeded the time limit counted as a program that has run for a while."""
        program = self.program("""
if (FOLDER / "hang").exists():
    time.sleep(1000)

def on_input(params):
    if params["input"] == "end":
        os._exit(3)
    return {}
""")
        client = self.client(self.serve(k=program.command))
        client.call("store/send", store="k", input="first")
        program.set("hang")
        for input in ["end", "waits", "last"]:
            self.stops(client, "k", input)

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

# SPDX-License-Identifier: Apache-2.0
"""Tests of programs whose files change while they run."""

import sys
import time

from .case import ServingTestCase

COUNTER = """
def on_open(params):
    return {"state": {"count": 0}}

def on_input(params):
    return {"patch": [{"op": "replace", "path": "/count", "value": params["input"]["n"]}]}
"""


class ChangeTests(ServingTestCase):
    def test_changed_program(self) -> None:
        program = self.program(COUNTER)
        server = self.serve("--watch", counter=program.command)
        client = self.client(server)
        client.call("store/subscribe", store="counter")
        count, pauses = 0, []
        for edit in range(5):
            program.save(COUNTER + f"# {edit}\n")
            end = time.monotonic() + 1.2
            while time.monotonic() < end:
                count += 1
                start = time.monotonic()
                client.call("store/send", store="counter", input={"n": count})
                pauses.append(time.monotonic() - start)
        self.assertEqual(client.state("counter")["count"], count)
        self.wait(lambda: server.text().count("the changed program runs") >= 4, "the changed programs run")
        program.save("def (")
        self.wait(lambda: "the earlier program continues" in server.text(), "the earlier program continues")
        self.assertIn("SyntaxError", server.text())
        self.assertTrue(client.call("store/send", store="counter", input={"n": -1})["changed"])
        pauses.sort()
        print(
            f"pauses at a change of the program: median of all inputs {pauses[len(pauses) // 2] * 1000:.1f} ms, "
            f"worst {pauses[-1] * 1000:.1f} ms", file=sys.stderr,
        )

    def test_second_change_while_the_program_is_busy(self) -> None:
        def text(version: int) -> str:
            return f"VERSION = {version}\n" + """
def on_describe(params):
    (FOLDER / f"started-{VERSION}").touch()
    return {"protocol": 1}

def on_input(params):
    if params["input"] == "hold":
        wait_for("release")
    return {"state": VERSION}
"""
        program = self.program(text(1))
        client = self.client(self.serve("--watch", k=program.command))
        client.call("store/send", store="k", input="first")
        held = client.send("store/send", store="k", input="hold")
        self.wait(lambda: program.requests("input", input="hold"), "the program is busy")
        program.save(text(2))
        self.wait((program.folder / "started-2").exists, "the first new version starts")
        program.save(text(3))
        # The server may start the second one now, or after the first one.
        end = time.monotonic() + 3
        while not (program.folder / "started-3").exists() and time.monotonic() < end:
            time.sleep(0.02)
        program.set("release")
        self.assertIn("result", client.response(held))

        def is_newest() -> bool:
            self.accepted(client, "k", "next")
            return client.state("k") == 3

        self.wait(is_newest, "the newest version runs")

    def test_own_files_are_no_change(self) -> None:
        """The folder of the data is inside of the folder of the program."""
        program = self.program('def on_input(params):\n    return {"state": params["input"]}\n')
        server = self.serve("--watch", "--data-dir", str(program.home / "data"), k=program.command)
        client = self.client(server)
        client.call("session/open", frontend="me")
        for number in range(6):
            client.call("store/send", store="k", input=number)
            # The server looks at the files between the writes.
            time.sleep(0.6)
        program.save('def on_input(params):\n    return {"state": "changed"}\n')

        def is_changed() -> bool:
            self.accepted(client, "k", 7)
            return client.state("k") == "changed"

        self.wait(is_changed, "the changed program runs")
        self.assertEqual(program.starts(), 2)

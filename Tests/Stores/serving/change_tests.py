# SPDX-License-Identifier: Apache-2.0
"""Tests of programs whose files change while they run: `served --edits NUMBER`."""

import statistics
import sys
import time

from .case import ServingTestCase
from .load import COUNTING, Load
from .server import OPTIONS


class ChangeTests(ServingTestCase):
    def test_edits_under_load(self) -> None:
        """Edits of the program while clients send inputs: plain ones, ones with an error, and new versions of the states."""
        program = self.program(COUNTING)
        server = self.serve("--watch", k=program.command)
        load = Load(server)
        version, edits = 1, []
        for number in range(OPTIONS.edits):
            self.wait(load.applies(50), "inputs are applied")
            kind = ("plain", "version", "error")[number % 3]
            version += kind == "version"
            text = COUNTING.replace("VERSION = 1", f"VERSION = {version}") + f"# {number}\n"
            sign = "the earlier program continues" if kind == "error" else "the changed program runs"
            seen, saved = server.text().count(sign), time.monotonic()
            program.save(text + "def (" if kind == "error" else text)
            self.wait(lambda: server.text().count(sign) > seen, f"{sign} after edit {number}")  # noqa: B023
            edits.append((kind, saved, time.monotonic()))
        load.finish()
        load.settle()
        self.assertEqual(load.faults(), [])
        self.assertEqual((load.total("refused"), load.total("repeated")), (0, 0), "no input is refused or sent again")
        self.assertEqual([client.connections for client in load.clients], [1] * len(load.clients))
        self.assertEqual([load.state(client)["version"] for client in load.clients], [version] * len(load.clients))
        self.assertEqual("SyntaxError" in server.text(), any(kind == "error" for kind, _, _ in edits))
        times = [time for client in load.clients for time in client.times]
        pauses = sorted(
            max(end - start for start, end in times if start < replaced and end > saved)
            for kind, saved, replaced in edits if kind != "error"
        )
        print(
            f"{len(edits)} edits with {len(times)} inputs: pauses at a replacement: median "
            f"{statistics.median(pauses) * 1000:.0f} ms, worst {pauses[-1] * 1000:.0f} ms", file=sys.stderr,
        )

    def test_changes_are_sent_to_tracing_clients(self) -> None:
        program = self.program("VERSION = 1\n")
        client = self.client(self.serve("--watch", k=program.command))
        client.call("store/send", store="k", input="first")
        client.call("session/trace", on=True)
        program.save("def (")
        self.wait(lambda: "reloadFailed" in client.actions(), "the failed change is traced")
        program.save("VERSION = 2\n")
        self.wait(lambda: "reloaded" in client.actions(), "the change is traced")
        changes = [action for action in client.actions() if action.startswith("reload")]
        self.assertEqual(changes, ["reloadFailed", "reloaded"])

    def test_view_is_removed(self) -> None:
        """Clients kept the view of the earlier version."""
        views = """
def on_open(params):
    return {"state": {"n": 0}, "view": {"shown": 0}}
"""
        program = self.program(views)
        client = self.client(self.serve("--watch", k=program.command))
        self.assertEqual(client.call("store/subscribe", store="k")["state"], {"shown": 0})
        program.save("""
def on_describe(params):
    return {"protocol": 1, "showsState": True}
""")
        self.wait(lambda: client.state("k") == {"n": 0}, "the client receives the state")
        client.until(lambda: any(each["method"] == "store/changed" for each in client.notifications))

    def test_view_is_added(self) -> None:
        """The server ended the program, which had sent a view where the store had none."""
        program = self.program("")
        client = self.client(self.serve("--watch", k=program.command))
        self.assertEqual(client.call("store/subscribe", store="k")["state"], {"n": 0})
        program.save("""
def on_restore(params):
    return {"view": {"shown": params["state"]["n"]}}
""")
        self.wait(lambda: client.state("k") == {"shown": 0}, "the view is sent")

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

    def test_program_ends_while_it_is_to_be_replaced(self) -> None:
        """An action that is sent again comes before the inputs that wait for the replacement."""
        text = """
def on_input(params):
    effect = {"type": "action", "action": "of " + params["input"]}
    return {"effects": [effect] if params["input"] == "first" else []}

def on_action(params):
    if flag("hold"):
        wait_for("end")
        (FOLDER / "hold").unlink()
        os._exit(3)
    return {}
"""
        program = self.program(text)
        server = self.serve("--watch", k=program.command)
        client = self.client(server)
        program.set("hold")
        first = client.send("store/send", store="k", input="first")
        self.wait(lambda: program.requests("action"), "the action is sent")
        program.save(text + """
def on_describe(params):
    return {"protocol": 1, "viewsBy": "role"}
""")
        # The server compares the descriptions as it begins the replacement.
        self.wait(lambda: "viewsBy changed" in server.text(), "the program is to be replaced")
        second = client.send("store/send", store="k", input="second")
        # The server has read the input.
        client.call("initialize")
        program.set("end")
        for number in (first, second):
            self.assertIn("result", client.response(number))
        later = [request["method"] for request in program.requests()]
        self.assertEqual(later[later.index("restore"):], ["restore", "action", "input"])

    def test_files_written_by_the_program_are_ignored(self) -> None:
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

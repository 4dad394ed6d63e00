#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests todo.pl and short.pl with the program, over standard input and output.

Called with `serve`, this file is a server: the program (`PROGRAM`) with the fault of `FAULT` between it and the
frontend. `drop N` drops the Nth `store/changed`, `repeat N` sends it three times, `spoil N` puts an invalid
patch into it; `remove 0` removes a todo right before it is completed. The requests of the frontend are written
to `ASKED`.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import unittest

HERE = pathlib.Path(__file__).resolve().parent


class Frontend:
    """A frontend with pipes, and a data folder for its server."""

    def __init__(self, script, folder, **environment):
        self.process = subprocess.Popen(
            ["perl", HERE / script],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "XDG_STATE_HOME": folder, **environment},
        )
        self.shown = ""
        # Ends a test that waits for output that does not come.
        self.watch = threading.Timer(240, self.process.kill)
        self.watch.start()

    def type(self, text):
        self.process.stdin.write(text.encode())
        self.process.stdin.flush()

    def wait(self, drawn):
        """Reads until a text was drawn."""
        self.shown = ""
        while drawn not in self.shown:
            line = self.process.stdout.readline().decode()
            if not line:
                raise AssertionError(f"{drawn!r} was not drawn, but {self.shown!r}")
            self.shown += line

    def end(self, text=""):
        """Types a last text, closes the input and returns the remaining output."""
        rest, _ = self.process.communicate(text.encode())
        self.watch.cancel()
        if self.process.returncode:
            raise AssertionError(f"it ended with {self.process.returncode}: {rest!r}")
        return rest.decode()


def last_list(output):
    """Returns the list that was drawn last."""
    return [line for line in output.split("--\n")[-1].split("\n") if line and not line.startswith("!")]


class Basics:
    """Tests of both frontends."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def typed(self, text):
        return Frontend(self.script, self.folder).end(text)

    def faulty(self, fault, folder):
        """Makes a frontend whose server has a fault."""
        program = {"STATEWIRE": __file__, "PROGRAM": os.environ["STATEWIRE"]}
        return Frontend(self.script, folder, **program, FAULT=fault, ASKED=f"{folder}/asked")

    def other(self):
        """Starts a second server on the same database."""
        return subprocess.Popen(
            [os.environ["STATEWIRE"], "serve"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "XDG_STATE_HOME": self.folder},
        )

    def test_piped_commands_run_in_order(self):
        output = self.typed("milk\nbread\nx 1\nbutter\nd 2\nx 2\r\neggs")
        self.assertEqual(last_list(output), ["  1 [x] milk", "  2 [x] butter", "  3 [ ] eggs"])
        self.assertEqual(last_list(self.typed("")), last_list(output))

    def test_characters_are_unchanged(self):
        titles = ["Käse", "🧀 日本", '"\\/', "x 01", "42", "x ray"]
        output = self.typed("\n".join(titles))
        self.assertEqual(last_list(output), [f"  {n} [ ] {t}" for n, t in enumerate(titles, 1)])

    def test_control_characters_are_replaced(self):
        with self.other() as other:
            for title in ["\x1b]2;a\x07b\x9bc\x7f", "d\u202ee\u2066f\u2028g\nh"]:
                send(other, type="todoAdded", title=title)
        output = self.typed("i\x1b[2J\n\x1b " + "a" * 4097 + "\n")
        first, second, third = last_list(output)
        self.assertRegex(first, "^  1 .{4}[␛�]]2;a[␇�]b�c�$")
        self.assertRegex(second, "^  2 .{4}d�e�f�g[␊�]h$")
        self.assertRegex(third, r"^  3 .{4}i[␛�]\[2J$")
        self.assertRegex(output, "\n! a title [^\n]*: [␛�] a{4097}\n")
        self.assertNotRegex(output, "[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u202a-\u202e\u2066-\u2069]")

    def test_frontend_assigns_the_ids_of_todos(self):
        self.typed("milk\nbread\n")
        with self.other() as other:
            send(other, type="stateRequested")
            todos = request(other, "store/state")["state"]["todos"]
            ids = [todo["id"] for todo in todos]
            for todo in todos:
                # Ids made by the server are longer.
                self.assertLess(len(todo["id"]), 36)
                send(other, type="todoAdded", **{**todo, "title": "again"})
            self.assertEqual(request(other, "store/state")["state"]["todos"], todos)
        self.assertEqual(len(set(ids)), 2)

    def test_invalid_command_is_reported(self):
        output = self.typed("  \nx 1\n" + "a" * 4097 + "\n" + "a" * 1_100_000 + "\nmilk\n")
        messages = [line for line in output.split("\n") if line.startswith("!")]
        self.assertEqual(messages[0], "! a title must not be empty:   ")
        self.assertRegex(messages[1], "! there is no .*number")
        # The typed text is shown again, also when it is long.
        self.assertTrue(messages[3].endswith(": " + "a" * 1_100_000), messages[3][:200])
        self.assertEqual(last_list(output), ["  1 [ ] milk"])

    def test_changes_of_other_clients_are_drawn(self):
        frontend = Frontend(self.script, self.folder)
        frontend.type("milk\nbread\nbutter\n")
        frontend.wait("  3 [ ] butter\n")
        with self.other() as other:
            send(other, type="stateRequested")
            todos = request(other, "store/state")["state"]["todos"]
            milk, bread, butter = (todo["id"] for todo in todos)
            send(other, type="todoMoved", id=butter, before=milk)
            frontend.wait("  1 [ ] butter\n  2 [ ] milk\n  3 [ ] bread\n")
            send(other, type="todoRemoved", id=milk)
            send(other, type="todoCompleted", id=bread)
            send(other, type="todoRenamed", id=butter, title="Butter")
            frontend.wait("  1 [ ] Butter\n  2 [x] bread\n")
            send(other, type="todoReopened", id=bread)
            frontend.wait("  2 [ ] bread\n")
        self.assertEqual(last_list(frontend.end("d 1\n")), ["  1 [ ] bread"])

    def test_gap_in_updates_is_repaired(self):
        frontend = self.faulty("drop 3", self.folder)
        frontend.type("milk\n")
        frontend.wait("  1 [ ] milk\n")
        with self.other() as other:
            send(other, type="todoAdded", title="bread")
            send(other, type="todoAdded", title="butter")
            frontend.wait("  1 [ ] milk\n  2 [ ] bread\n  3 [ ] butter\n")
        frontend.end()


class ShortTests(Basics, unittest.TestCase):
    script = "short.pl"


class TodoTests(Basics, unittest.TestCase):
    script = "todo.pl"

    def test_diverged_state_is_repaired(self):
        # The first update is the loaded list, the fifth is the last one.
        faults = ["drop 1", "drop 2", "drop 3", "drop 5", "repeat 3", "spoil 3", "spoil 5"]
        for fault in faults:
            with self.subTest(fault), tempfile.TemporaryDirectory() as folder:
                output = self.faulty(fault, folder).end("milk\nbread\nd 1\nbutter\n")
                self.assertEqual(last_list(output), ["  1 [ ] bread", "  2 [ ] butter"])
                asked = pathlib.Path(folder, "asked").read_text()
                self.assertEqual(asked.split().count("store/subscribe"), 2)

    def test_empty_line_retries_after_a_failure(self):
        in_the_way = pathlib.Path(self.folder, "statewire")
        in_the_way.write_text("a file, and no folder for the database")
        frontend = Frontend(self.script, self.folder)
        frontend.wait("Oops something went wrong\n")
        in_the_way.unlink()
        frontend.type("\n")
        frontend.wait("(content)\n")
        self.assertEqual(last_list(frontend.end("milk\n")), ["  1 [ ] milk"])

    def test_refused_commands_are_kept_up_to_a_limit(self):
        output = self.typed("  \n" * 3 + "milk\n" + "  \n" * 11 + "bread\n")
        lists = output.split("--\n")
        messages = "! a title must not be empty:   \n"
        self.assertEqual(lists[-2].split(messages)[0], "  1 [ ] milk\n")
        self.assertEqual(lists[-1], "  1 [ ] milk\n  2 [ ] bread\n" + 10 * messages)

    def test_forbidden_command_is_reported(self):
        in_the_way = pathlib.Path(self.folder, "statewire")
        in_the_way.write_text("a file, and no folder for the database")
        output = self.typed("milk\n")
        self.assertIn("Oops something went wrong, may not be done: milk\n", output)

    def test_removal_by_another_client_is_reported(self):
        output = self.faulty("remove 0", self.folder).end("milk\nbread\nx 1\nd 1\n")
        self.assertIn("! another client has removed it: x 1\n", output)
        self.assertEqual(output.count("! another"), output.count("! another client has removed it: x 1\n"))
        self.assertEqual(last_list(output), ["(content)"])

    def test_server_exit_is_reported(self):
        frontend = Frontend(self.script, self.folder, STATEWIRE="true")
        with self.assertRaisesRegex(AssertionError, "ended with [1-9]"):
            frontend.end("milk\n")


def send(service, **put):
    return request(service, "store/send", input=put, settle=True)


def request(service, method, **params):
    """Sends a request and returns its result; skips notifications."""
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {"store": "todo", **params}}
    service.stdin.write(json.dumps(message).encode() + b"\n")
    service.stdin.flush()
    return json.loads(service.stdout.readline())["result"]


def serve_with_a_fault():
    fault, number = os.environ["FAULT"].split()
    service = subprocess.Popen([os.environ["PROGRAM"], "serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def up():
        with open(os.environ["ASKED"], "w", encoding="utf-8") as asked:
            for line in sys.stdin.buffer:
                message = json.loads(line)
                asked.write(message["method"] + "\n")
                input = message["params"].get("input", {})
                if fault == "remove" and input.get("type") == "todoCompleted":
                    params = {"store": "todo", "input": {"type": "todoRemoved", "id": input["id"]}}
                    ahead = {"jsonrpc": "2.0", "id": "ahead", "method": "store/send", "params": params}
                    service.stdin.write(json.dumps(ahead).encode() + b"\n")
                service.stdin.write(line)
                service.stdin.flush()
        service.stdin.close()

    upwards = threading.Thread(target=up)
    upwards.start()
    frames = 0
    for line in service.stdout:
        message = json.loads(line)
        if message.get("id") == "ahead":
            continue
        frames += message.get("method") == "store/changed"
        if "method" in message and frames == int(number):
            match fault:
                case "drop":
                    line = b""
                case "repeat":
                    line = line * 3
                case "spoil":
                    message["params"]["patch"].append({"op": "copy", "from": "", "path": "/todos/0"})
                    line = json.dumps(message).encode() + b"\n"
        sys.stdout.buffer.write(line)
        sys.stdout.buffer.flush()
    upwards.join()
    sys.exit(service.wait())


if __name__ == "__main__":
    if sys.argv[1:] == ["serve"]:
        serve_with_a_fault()
    unittest.main()

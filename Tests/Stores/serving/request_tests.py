# SPDX-License-Identifier: Apache-2.0
"""Tests of requests whose responses wait for a program."""

import json
import subprocess
import sys

from json_patch import applied

from .case import ServingTestCase
from .client import Client
from .server import OPTIONS

HOLDING = """
def on_open(params):
    return {"state": 0}

def on_input(params):
    if params["input"] == "hold":
        wait_for("release")
    return {"state": 1}
"""

# Each viewer has a view of its own if the test has set the flag `views`.
VIEWS = """
def on_describe(params):
    return {"protocol": 1, "viewsBy": "frontend", "watchesViewers": True} if flag("views") else {"protocol": 1}

def on_viewers(params):
    return {"views": {each["frontend"]: {"view": {"n": 0}} for each in params["viewers"]}} if flag("views") else {}
"""


class RequestTests(ServingTestCase):
    def test_description_without_a_server(self) -> None:
        """The commands `schema` and `types` start the program, and describe it as a server does."""
        program = self.program("""
def on_describe(params):
    schema = {"type": "object", "required": ["type"], "properties": {"type": {"const": "tapped"}}}
    return {"protocol": 1, "schemas": {"input": schema}}
""")
        described = self.client(self.serve(k=program.command)).call("rpc.discover")

        def output(*words: str) -> str:
            words = [OPTIONS.program, *words, "--store", f"k={program.command}"]
            return subprocess.run(words, capture_output=True, text=True, check=True, timeout=60).stdout

        self.assertEqual(json.loads(output("schema")), described)
        self.assertIn("'tapped'", output("types", "--language", "python", "--kinds", "k").replace('"', "'"))
        words = [OPTIONS.program, "schema", "--store", f"k={sys.executable} -c 'raise SystemExit(3)'"]
        failed = subprocess.run(words, capture_output=True, text=True, timeout=60)
        self.assertEqual((failed.returncode, failed.stdout), (1, ""))
        self.assertIn('the store kind "k" cannot be described: the program has ended (exit code 3)', failed.stderr)
        self.assertNotIn("restarted", failed.stderr)

    def test_cancelled_request_gets_the_response_of_its_input(self) -> None:
        program = self.program(HOLDING)
        client = self.client(self.serve(k=program.command))
        client.call("store/subscribe", store="k")
        held = client.send("store/send", store="k", input="hold")
        self.wait(lambda: program.requests("input", input="hold"), "the program is busy")
        client.call("$/cancelRequest", id=held)
        program.set("release")
        self.assertEqual(client.response(held)["result"], {"revision": 1, "changed": True})

    def test_cancelled_input_counts_while_the_program_works_at_it(self) -> None:
        program = self.program(HOLDING)
        client = self.client(self.serve("--maximum-open-requests", "2", k=program.command))
        for _ in range(2):
            held = client.send("store/send", store="k", input="hold", settle=True)
            client.call("$/cancelRequest", id=held)
            self.assertEqual(client.response(held)["error"]["code"], -32800)
        refused = client.response(client.send("store/send", store="k", input="next"))
        self.assertEqual(refused["error"]["data"], {"limit": "openRequests"})
        program.set("release")

        def accepted() -> bool:
            return "result" in client.response(client.send("store/send", store="k", input="next"))

        self.wait(accepted, "the inputs have ended")

    def test_cancelled_input_counts_while_the_program_works_at_its_action(self) -> None:
        program = self.program("""
def on_input(params):
    if params["input"] == "next":
        return {}
    return {"effects": [{"type": "after", "milliseconds": 0, "action": "hold"}]}

def on_action(params):
    wait_for("release")
    return {}
""")
        client = self.client(self.serve("--maximum-open-requests", "2", k=program.command))
        held = [client.send("store/send", store="k", input="hold", settle=True) for _ in range(2)]
        self.wait(lambda: program.requests("action"), "the program works at the first action")
        client.call("$/cancelRequest", id=held[0])
        self.assertEqual(client.response(held[0])["error"]["code"], -32800)
        refused = client.response(client.send("store/send", store="k", input="next"))
        self.assertEqual(refused["error"]["data"], {"limit": "openRequests"})
        program.set("release")
        self.assertIn("result", client.response(held[1]))
        self.assertIn("result", client.response(client.send("store/send", store="k", input="next")))

    def test_requests_after_the_last_input_get_their_responses(self) -> None:
        program = self.program(HOLDING)
        client = self.client(self.serve(k=program.command))
        held = client.send("store/send", store="k", input="hold")
        client.end_input()
        self.wait(lambda: program.requests("input", input="hold"), "the program is busy")
        program.set("release")
        self.assertEqual(client.response(held)["result"], {"revision": 1, "changed": True})

    def test_first_view_of_a_viewer_reaches_its_client(self) -> None:
        program = self.program("""
def on_describe(params):
    return {"protocol": 1, "viewsBy": "frontend", "watchesViewers": True}

def on_open(params):
    return {"state": {"n": 0}, "view": {"n": 0}}

def on_viewers(params):
    return {"views": {each["frontend"]: {"view": {"n": 0, "you": each["frontend"]}} for each in params["viewers"]}}

def on_input(params):
    return {"views": {"alice": {"viewPatch": [{"op": "replace", "path": "/n", "value": 1}]}}}
""")
        client = self.client(self.serve(k=program.command))
        client.call("session/open", frontend="alice")
        state = client.call("store/subscribe", store="k")["state"]
        self.accepted(client, "k", None)
        client.until(lambda: any(n["method"] == "store/changed" for n in client.notifications))
        for each in client.notifications:
            if each["method"] == "store/changed":
                state = applied(each["params"]["patch"], state)
        self.assertEqual(state, {"n": 1, "you": "alice"})

    def test_names_of_viewers_are_compared_by_bytes(self) -> None:
        program = self.program("""
def on_describe(params):
    return {"protocol": 1, "viewsBy": "frontend", "watchesViewers": True}

def on_viewers(params):
    return {"views": {each["frontend"]: {"view": list(each["frontend"].encode())} for each in params["viewers"]}}
""")
        server = self.serve("--session-time", "600", k=program.command)
        session, clients = None, []
        for name in ("\u00e9", "e\u0301"):
            client = self.client(server)
            clients.append((client, list(name.encode())))
            if session is None:
                session = client.call("session/open", frontend=name)["session"]
            else:
                client.call("session/attach", session=session, frontend=name, revisions={})
            client.call("store/subscribe", store="k")
            self.wait(lambda: clients[-1][0].state("k") == clients[-1][1], "it has a view of its own")
        for client, view in clients:
            self.assertEqual(client.state("k"), view)

    def test_viewers_that_come_in_a_short_time_are_passed_on_together(self) -> None:
        program = self.program("""
def on_describe(params):
    return {"protocol": 1, "watchesViewers": True}

def on_viewers(params):
    if params["viewers"]:
        wait_for("continue")
    return {}
""")
        server = self.serve("--session-time", "600", k=program.command)
        first = self.client(server)
        session = first.call("session/open", frontend="0")["session"]
        first.call("store/subscribe", store="k")
        self.wait(lambda: program.requests("viewers"), "the program works at the first one")
        for number in range(1, 30):
            client = self.client(server)
            client.call("session/attach", session=session, frontend=str(number), revisions={})
            client.call("store/subscribe", store="k")
        program.set("continue")
        self.wait(lambda: len(program.requests("viewers")[-1]["viewers"]) == 30, "the program knows all")
        self.assertLessEqual(len(program.requests("viewers")), 3)

    def viewer(self, handlers: str, has_views: bool) -> Client:
        """A client named alice that is subscribed to a store of the program."""
        program = self.program(handlers)
        if has_views:
            program.set("views")
        client = self.client(self.serve(k=program.command))
        client.call("session/open", frontend="alice")
        client.call("store/subscribe", store="k")
        self.wait(lambda: client.state("k") == {"n": 0}, "the viewer has its view")
        return client

    def test_changed_compares_with_the_state_before_the_input(self) -> None:
        """The inputs are sent together, so each one comes before the program has responded to the others."""
        handlers = VIEWS + """
def on_input(params):
    number, *later = params["input"]
    effects = [{"type": "action", "action": [each], "id": f"{each}"} for each in later]
    if number is None:
        return {"effects": effects}
    change = [{"op": "replace", "path": "/n", "value": number}]
    views = {"views": {"alice": {"viewPatch": change}}} if flag("views") else {}
    return {"patch": change, "effects": effects, **views}

def on_action(params):
    return on_input({"input": params["action"]})
"""
        sent = [([5], True), ([None], False), ([7], True), ([5], True), ([None, 6, 5], False)]
        for has_views in (False, True):
            client = self.viewer(handlers, has_views)
            for settle in (False, True):
                with self.subTest(has_views=has_views, settle=settle):
                    client.call("store/send", store="k", input=[0])
                    numbers = [
                        client.send("store/send", store="k", input=input, settle=settle) for input, _ in sent
                    ]
                    results = [client.response(number)["result"]["changed"] for number in numbers]
                    self.assertEqual(results, [changed for _, changed in sent])

    def test_changed_is_true_if_a_later_input_ends_the_effects(self) -> None:
        """The response with `settle` comes while the later input is folded."""
        handlers = VIEWS + """
def on_input(params):
    if params["input"] == "end":
        return {"effects": [{"type": "cancel", "id": "t"}]}
    change = [{"op": "replace", "path": "/n", "value": 5}]
    wait = {"type": "after", "milliseconds": 60_000, "action": "late", "id": "t"}
    views = {"views": {"alice": {"viewPatch": change}}} if flag("views") else {}
    return {"patch": change, "effects": [wait], **views}
"""
        for has_views in (False, True):
            client = self.viewer(handlers, has_views)
            first = client.send("store/send", store="k", input="begin", settle=True)
            last = client.send("store/send", store="k", input="end")
            with self.subTest(has_views=has_views):
                self.assertEqual(client.response(first).get("result"), {"revision": 1, "changed": True})
                self.assertFalse(client.response(last)["result"]["changed"])

    def test_viewers_do_not_follow_the_close_of_their_store(self) -> None:
        program = self.program("""
def on_describe(params):
    return {"protocol": 1, "watchesViewers": True}

def on_viewers(params):
    if params["viewers"]:
        wait_for("continue")
    return {}
""")
        client = self.client(self.serve(k=program.command))
        client.call("store/subscribe", store="k")
        self.wait(lambda: program.requests("viewers"), "the program works at the viewers")
        client.call("store/unsubscribe", store="k")
        client.call("store/close", store="k")
        program.set("continue")
        client.call("store/open", store="other", kind="k")
        client.call("store/send", store="other", input=None)
        self.assertEqual(program.requests(store=program.requests("open")[0]["store"])[-1]["method"], "close")

    def test_store_gets_a_view_later(self) -> None:
        """The server ended the program, although a library cannot know whether a view comes."""
        program = self.program("""
def on_input(params):
    return {"view": {"shown": True}}
""")
        client = self.client(self.serve(k=program.command))
        self.assertEqual(client.call("store/subscribe", store="k")["state"], {"n": 0})
        client.call("store/send", store="k", input=None)
        self.assertEqual(client.state("k"), {"shown": True})

    def test_batch_that_opens_a_store(self) -> None:
        client = self.client(self.serve(k=self.program(HOLDING).command))
        client.post([
            {"jsonrpc": "2.0", "id": "a", "method": "store/send", "params": {"store": "k", "input": "x"}},
            {"jsonrpc": "2.0", "method": "store/send", "params": {"store": "k", "input": "x"}},
            {"jsonrpc": "2.0", "id": "b", "method": "ping"},
        ])
        responses = client.read_batch()
        self.assertEqual(sorted(response["id"] for response in responses), ["a", "b"])
        self.assertTrue(all("result" in response for response in responses), responses)

    def test_repeat_waits_for_the_outcome_of_its_input(self) -> None:
        """A repeat got a result immediately, and the program refused the input afterwards."""
        program = self.program("""
def on_input(params):
    wait_for(params["input"])
    if params["input"] == "fail":
        os._exit(1)
    return {"state": params["input"]}
""")
        server = self.serve(k=program.command)
        client = self.client(server)
        handle = client.call("session/open", frontend="me")["session"]
        for sequence, input in enumerate(("succeed", "fail"), start=1):
            client.send("store/send", store="k", input=input, sequence=sequence)
            self.wait(lambda: program.requests("input", input=input), "the program has the input")  # noqa: B023
            client = self.client(server)
            attached = client.call("session/attach", session=handle, frontend="me", revisions={})
            self.assertEqual(attached["sequence"], sequence)
            repeat = client.send("store/send", store="k", input=input, sequence=sequence)
            client.call("ping")
            self.assertNotIn(repeat, client.responses)
            program.set(input)
            response = client.response(repeat)
            if input == "succeed":
                self.assertEqual(response["result"], {"revision": 1, "changed": False})
            else:
                self.assertEqual(response["error"]["code"], -32603)
        self.assertEqual(client.state("k"), "succeed")
        self.assertEqual(len(program.requests("input")), 2)

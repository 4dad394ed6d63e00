# SPDX-License-Identifier: Apache-2.0
"""Tests with programs that break the protocol or use up what the server has, and with inputs that do so."""

import sys
import time

from .case import ServingTestCase
from .client import RPCError
from .server import OPTIONS

HOSTILE = {
    "exits": "sys.exit(1)",
    "silent": "time.sleep(1000)",
    "flood": "while True: sys.stdout.write('x' * 65536)",
    "noise": """
while True:
    print('{"jsonrpc":"2.0","method":"machine/send","params":{"run":1,"action":1}}')
""",
    "errors": "while True: sys.stderr.write('noise\\n' * 1000)",
    "deep": "def on_describe(params): print('[' * 100000, flush=True)",
    "wrong": "def on_input(params): message['id'] += 1000; return {}",
    "least": "def on_input(params): message['id'] = -(1 << 63); return {}",
    "escape": "def on_input(params): os.setpgid(0, os.getpgid(os.getppid())); time.sleep(1000)",
    "patch": "def on_input(params): return {'patch': [{'op': 'remove', 'path': '/nowhere'}]}",
    "never": "def on_input(params): pass",
    "memory": "def on_input(params): x = ['x' * (1 << 20) for _ in range(1 << 14)]; return {}",
}

# The first process misbehaves at an input, with `begin` before the response; the next ones do not.
ONCE = """
def begin():
    pass

def on_input(params):
    if flag("misbehaved"):
        return {}
    (FOLDER / "misbehaved").touch()
    begin()
    respond({})
    misbehave()
"""


class HostileTests(ServingTestCase):
    def test_long_messages_are_shortened(self) -> None:
        program = self.program("""
def on_input(params):
    respond({"code": params["input"], "message": "y" * 1_000_000}, "error")
""")
        server = self.serve(k=program.command)
        client = self.client(server)
        refused = client.response(client.send("store/send", store="k", input=-32602))["error"]
        self.assertEqual((refused["code"], refused["message"]), (-32602, "y" * 4096 + "…"))
        client.response(client.send("store/send", store="k", input=-1))
        self.wait(lambda: "yyyy" in server.text(), "the failure is logged")
        self.assertLess(server.text().count("y"), 5_000)

    def test_long_paths_and_limits_are_shortened(self) -> None:
        program = self.program("""
def on_input(params):
    data = {"path": ["z" * 1000] * 1000} if params["input"] == "path" else {"limit": "z" * 100_000}
    respond({"code": -32602, "message": "no", "data": data}, "error")
""")
        client = self.client(self.serve(k=program.command))
        path = client.response(client.send("store/send", store="k", input="path"))["error"]["data"]["path"]
        self.assertEqual(path, "/input" + ("/" + "z" * 256 + "…") * 128)
        limit = client.response(client.send("store/send", store="k", input="limit"))["error"]["data"]["limit"]
        self.assertEqual(limit, "z" * 256 + "…")

    def test_responses_in_another_order(self) -> None:
        """A journal had an input as applied whose response came before that to an earlier one."""
        program = self.program("""
waiting = []

def on_input(params):
    waiting.append(message["id"])
    if params["input"] == "last":
        for number in reversed(waiting):
            message["id"] = number
            respond({"state": {"n": number}})
""")
        server = self.serve(k=program.command)
        client = self.client(server)
        client.call("store/open", store="other", kind="k", config={})
        sent = [client.send("store/send", store="k", input=text) for text in ("first", "last")]
        for number in sent:
            self.assertEqual(client.response(number)["error"]["code"], -32603)
        self.assertIn("a response comes before that to an earlier request of its store", server.text())
        self.assertEqual(client.state("k"), {"n": 0})

    def test_too_many_effects_of_an_update(self) -> None:
        program = self.program("""
def on_input(params):
    effect = {"type": "after", "milliseconds": 1_000_000, "action": 1}
    return {"effects": [effect] * params["input"]}
""")
        server = self.serve(k=program.command)
        client = self.client(server)
        client.call("store/send", store="k", input=1_000)
        self.stops(client, "k", 1_001)
        self.assertIn("an update has at most 1000 effects", server.text())
        # The earlier effects still run: a store has at most 10,000, and then takes no inputs.
        self.accepted(client, "k", 999)
        for _ in range(9):
            client.call("store/send", store="k", input=1_000)
        with self.assertRaises(RPCError) as caught:
            client.call("store/send", store="k", input=0)
        self.assertEqual((caught.exception.code, caught.exception.data["limit"]), (-32015, "effects"))

    def test_actions_without_end(self) -> None:
        """Each action causes two others; the memory of the server grew, and other stores waited."""
        program = self.program("""
def on_input(params):
    return {"effects": [{"type": "action", "action": 1}] * params["input"]}

def on_action(params):
    return on_input({"input": 0 if flag("end") else 2})
""")
        server = self.serve(k=program.command, good=OPTIONS.command)
        client, good = self.client(server), self.client(server)
        client.send("store/send", store="k", input=1)
        self.wait(lambda: "effects that have not ended" in server.text(), "actions are dropped")
        for _ in range(20):
            good.input("good", "add", by=1)
        self.assertEqual(good.state("good")["count"], 20)
        program.set("end")
        self.accepted_after_limit(client)

    def test_times_without_end(self) -> None:
        program = self.program("""
def on_input(params):
    return {"effects": [{"type": "every", "id": "t", "milliseconds": 1, "action": 1}]}

def on_action(params):
    return {"effects": [{"type": "after", "milliseconds": 10 ** 10, "action": 1}] * 1_000}
""")
        server = self.serve(k=program.command, good=OPTIONS.command)
        client, good = self.client(server), self.client(server)
        client.send("store/send", store="k", input=1)
        self.wait(lambda: "effects that have not ended" in server.text(), "actions are dropped")
        times = len(program.requests("action"))
        for _ in range(100):
            good.input("good", "add", by=1)
        # Those that were on their way.
        self.assertLess(len(program.requests("action")), times + 3)

    def accepted_after_limit(self, client) -> None:
        def sent() -> bool:
            try:
                client.call("store/send", store="k", input=0)
                return True
            except RPCError as error:
                self.assertEqual(error.data["limit"], "effects")
                return False

        self.wait(sent, "the store takes inputs again")

    def test_hidden_states_count_towards_the_limits(self) -> None:
        """Only the view that clients receive was counted."""
        program = self.program("""
kept = []

def on_open(params):
    return {"state": [], "view": 0}

def on_input(params):
    text = params["input"]["text"]
    if params["input"]["type"] == "state":
        return {"patch": [{"op": "add", "path": "/-", "value": text}]}
    if params["input"]["type"] == "views":
        kept.append(text)
        return {"views": {str(len(kept)): {"view": text}}}
    return {"effects": [{"type": "after", "milliseconds": 1_000_000, "action": text}]}
""")
        client = self.client(self.serve("--maximum-bytes-per-session", "1000000", k=program.command))
        for kind in ("state", "views", "effects"):
            with self.subTest(kind):
                client.call("store/open", store=kind, kind="k", config={})
                with self.assertRaises(RPCError) as caught:
                    for _ in range(25):
                        client.call("store/send", store=kind, input={"type": kind, "text": "x" * 50_000})
                self.assertEqual(caught.exception.code, -32015)
                self.assertEqual(caught.exception.data["limit"], "bytesPerSession")
                client.call("store/close", store=kind)

    def test_views_and_events_fit_their_schemas_under_test(self) -> None:
        program = self.program("""
def on_describe(params):
    return {"protocol": 1, "schemas": {"viewState": {"type": "integer"}, "event": {"type": "string"}}}

def on_open(params):
    return {"state": 0}

def on_input(params):
    return {"state": 1, **params["input"]}
""")
        server = self.serve("--test", k=program.command)
        client = self.client(server)
        good = {"state": 2, "events": [{"event": "x"}]}
        client.call("store/send", store="k", input=good)
        for input, fault in (
            ({"state": "x"}, "the view state does not fit its schema"),
            ({"view": None}, "the view state does not fit its schema"),
            ({"events": [{"event": 1}]}, "the event does not fit its schema"),
        ):
            with self.subTest(input):
                self.stops(client, "k", input)
                self.wait(lambda: fault in server.text(), fault)
                self.accepted(client, "k", good)
        # Otherwise it would cost more than the update itself.
        client = self.client(self.serve(k=program.command))
        client.call("store/send", store="k", input={"state": "x", "events": [{"event": 1}]})
        self.assertEqual(client.state("k"), "x")

    def test_a_null_action_is_none(self) -> None:
        program = self.program("""
def on_input(params):
    return {"effects": [{"type": "run", "name": "work", "failed": None}]}

def on_run(params):
    return {"action": None}
""")
        client = self.client(self.serve(k=program.command))
        client.call("store/send", store="k", input=1, settle=True)
        self.assertEqual(program.requests("action"), [])

    def test_the_log_has_the_reason(self) -> None:
        """An earlier line of the standard error is not the reason of a failure."""
        program = self.program("""
print("an early line", file=sys.stderr, flush=True)

def on_input(params):
    if params["input"] == "exit":
        print("the last words", file=sys.stderr, flush=True)
    if params["input"] == "close":
        os.close(1)
        time.sleep(1000)
    if params["input"] == "leave":
        # Another process holds the pipes.
        if os.fork() == 0:
            time.sleep(1000)
    os._exit(9)
""")
        server = self.serve(k=program.command)
        client = self.client(server)
        for input, reason in (
            ("end", "the program has ended (exit code 9); it is restarted"),
            ("exit", "the program has ended (exit code 9): the last words; it is restarted"),
            ("close", "the program has closed a standard stream and continued; it is restarted"),
            ("leave", "the program has ended (exit code 9); it is restarted"),
        ):
            with self.subTest(input):
                before = server.text().count(reason)
                self.accepted_or_stops(client, input)
                self.wait(lambda: server.text().count(reason) > before, reason)
        self.assertNotIn("did not respond", server.text())

    def test_the_reason_comes_before_responses_that_were_kept_back(self) -> None:
        program = self.program("""
def on_input(params):
    if params["input"] == "last":
        print("the last words", file=sys.stderr, flush=True)
        time.sleep(0.5)
        message["id"] -= 1
        respond({})
        sys.exit(3)
""")
        server = self.serve(k=program.command)
        client = self.client(server)
        client.call("store/open", store="k", kind="k", config={})
        numbers = [client.send("store/send", store="k", input=text) for text in ("first", "last")]
        self.assertIn("result", client.response(numbers[0]))
        self.assertIn("error", client.response(numbers[1]))
        reason = "the program has ended (exit code 3): the last words; it is restarted"
        self.wait(lambda: reason in server.text(), reason)

    def test_repeated_actions_keep_their_order(self) -> None:
        """The next process gets actions again whose responses came in the wrong order."""
        program = self.program("""
waiting = []

def on_input(params):
    return {"effects": [{"type": "action", "action": n} for n in range(3)]}

def on_action(params):
    if flag("again"):
        return {}
    waiting.append(message["id"])
    if len(waiting) == 3:
        (FOLDER / "again").touch()
        message["id"] = waiting[1]
        respond({})
""")
        client = self.client(self.serve(k=program.command))
        client.send("store/send", store="k", input=1)
        self.wait(lambda: len(program.requests("action")) == 6, "the actions come again")
        self.assertEqual([request["action"] for request in program.requests("action")], [0, 1, 2] * 2)

    def accepted_or_stops(self, client, input: str) -> None:
        """Sends an input at which the program ends, once it runs."""

        def reached() -> bool:
            response = client.response(client.send("store/send", store="k", input=input))
            return "does not run now" not in response["error"]["message"]

        self.wait(reached, "the program runs")

    def test_hostile_programs(self) -> None:
        programs = {name: self.program(text).command for name, text in HOSTILE.items()}
        server = self.serve(good=OPTIONS.command, **programs)
        good = self.client(server)
        asked = []
        for name in programs:
            bad = self.client(server)
            asked.append((name, bad, bad.send("store/send", store=name, input={"type": "x"})))
        worst = 0.0
        for _ in range(200):
            start = time.monotonic()
            good.input("good", "add", by=1)
            worst = max(worst, time.monotonic() - start)
        self.assertEqual(good.state("good")["count"], 200)
        for name, bad, number in asked:
            with self.subTest(name):
                self.assertEqual(bad.response(number)["error"]["code"], -32603)
        self.assertLess(len(server.text()), 1_000_000)
        print(f"worst round trip beside hostile programs: {worst * 1000:.1f} ms", file=sys.stderr)

    def restarted(self, misbehaviour: str) -> None:
        """Checks that a process which misbehaves without an end is replaced by another one."""
        program = self.program(ONCE + misbehaviour)
        server = self.serve(k=program.command)
        client = self.client(server)
        client.call("store/open", store="other", kind="k", config={})
        client.call("store/send", store="k", input={})
        # The program gets a notification, which has no time limit for a response.
        client.call("store/close", store="other")
        self.wait(lambda: program.starts() > 1, "the program is started again")
        self.assertEqual(server.text().count("it is restarted"), 1, server.text())
        self.accepted(client, "k", {})

    def test_repeated_responses(self) -> None:
        self.restarted("""
def misbehave():
    while True:
        print('{"jsonrpc":"2.0","id":1,"result":{}}')
""")

    def test_blank_lines(self) -> None:
        self.restarted("""
def misbehave():
    while True:
        sys.stdout.write("\\n" * 60000)
""")

    def test_closed_input(self) -> None:
        self.restarted("""
def begin():
    os.close(0)

def misbehave():
    time.sleep(1000)
""")

    def test_program_that_writes_before_it_reads(self) -> None:
        """The server did not read it while more than 64 MiB waited for it, so both waited."""
        program = self.program("""
def on_input(params):
    return {"state": {"text": "x" * 200_000}}
""")
        server = self.serve(k=program.command)
        asked = []
        clients = [self.client(server) for _ in range(60)]
        for client in clients:
            client.call("store/open", store="k", kind="k", config={})
        for client in clients:
            asked.append((client, [client.send("store/send", store="k", input="y" * 900_000) for _ in range(3)]))
        for client, numbers in asked:
            for number in numbers:
                response = client.response(number)
                if "error" in response:
                    self.assertIn("MiB wait for the program", response["error"]["message"])
        self.assertEqual(program.starts(), 1)

    def test_deep_input_of_a_recursive_schema(self) -> None:
        program = self.program("""
LEAF = {"type": "object", "required": ["type", "value"],
    "properties": {"type": {"const": "leaf"}, "value": {"type": "integer"}}}
NODE = {"type": "object", "required": ["type", "child"],
    "properties": {"type": {"const": "node"}, "child": {"$ref": "#/$defs/Tree"}}}
INPUT = {"$ref": "#/$defs/Tree", "$defs": {"Tree": {"oneOf": [LEAF, NODE]}}}

def on_describe(params):
    return {"protocol": 1, "schemas": {"input": INPUT}}
""")
        client = self.client(self.serve(k=program.command))

        def tree(leaf: object) -> object:
            tree: object = {"type": "leaf", "value": leaf}
            for _ in range(60):
                tree = {"type": "node", "child": tree}
            return tree

        client.call("store/send", store="k", input=tree(1))
        # The time of the connection is the limit; a check that tries all combinations takes years.
        with self.assertRaises(RPCError) as caught:
            client.call("store/send", store="k", input=tree("text"))
        self.assertEqual(caught.exception.code, -32602)
        self.assertEqual(caught.exception.data["path"], "/input" + "/child" * 60 + "/value")
        self.assertEqual(len(program.requests("input")), 1)

    def test_numbers_beyond_a_double(self) -> None:
        """Such a state was accepted, and `store/state` then failed for all clients of the session."""
        program = self.program("""
def on_input(params):
    value = params["input"]
    return {"state": 10 ** 400 if value == "large" else value}
""")
        client = self.client(self.serve(k=program.command))
        client.call("store/send", store="k", input={"id": "1e4", "number": 1e308})
        for large in (10**400, -(10**309)):
            with self.assertRaises(RPCError) as caught:
                client.call("store/send", store="k", input={"numbers": [1, large]})
            self.assertEqual(caught.exception.code, -32602)
            self.assertEqual(caught.exception.data["path"], "/input/numbers/1")
        self.assertEqual(len(program.requests("input")), 1)
        with self.assertRaises(RPCError) as caught:
            client.call("store/send", store="k", input="large")
        self.assertEqual(caught.exception.code, -32603)
        state = client.call("store/state", store="k")["state"]
        self.assertEqual(state, {"id": "1e4", "number": 1e308})

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

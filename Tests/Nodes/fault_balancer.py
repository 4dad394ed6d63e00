# SPDX-License-Identifier: Apache-2.0
"""A load balancer that sometimes breaks a guarantee in the messages of a real server.

Each fault changes messages in lines framing; connections with another framing pass unchanged. `chaos --plant NAME` puts
it between clients and server. It shows that the load exposes each fault, and that the checker finds it there.
"""

import asyncio
import contextlib
import copy
import json
import random

from balancer import Balancer

# One of so many messages that a fault can change is changed.
RARITY = 12
LIMIT = 1 << 24


class Fault:
    """Passes all messages on. A subclass overrides one direction; one object belongs to one connection."""

    # The violations of which the checker must find at least one.
    expected = frozenset()

    def __init__(self, seed):
        self.random = random.Random(seed)

    def should_apply(self):
        return self.random.randrange(RARITY) == 0

    def to_server(self, message):
        """Returns the messages for the server, and those for the client."""
        return [message], []

    def to_client(self, message):
        return [message]


def is_addition(message, store=""):
    params = message.get("params") or {}
    return (message.get("method") == "store/send" and params["store"].startswith(store)
            and params["input"]["type"] == "todoAdded")


class LostInput(Fault):
    """Responds to an input itself, and does not deliver it."""

    expected = frozenset({"lost"})

    def __init__(self, seed):
        super().__init__(seed)
        self.revisions = {}

    def to_server(self, message):
        revision = self.revisions.get((message.get("params") or {}).get("store"))
        if revision is not None and is_addition(message) and self.should_apply():
            return [], [{"jsonrpc": "2.0", "id": message["id"], "result": {"revision": revision, "changed": False}}]
        return [message], []

    def to_client(self, message):
        if message.get("method") == "store/changed":
            self.revisions[message["params"]["store"]] = message["params"]["revision"]
        return [message]


class InputTwice(Fault):
    """Delivers an input twice, the second time without its sequence."""

    expected = frozenset({"applied twice"})

    def to_server(self, message):
        if not (is_addition(message) and self.should_apply()):
            return [message], []
        again = copy.deepcopy(message)
        del again["id"], again["params"]["sequence"]
        return [message, again], []


class Reordered(Fault):
    """Exchanges two inputs of a client to one store."""

    expected = frozenset({"order"})

    def __init__(self, seed):
        super().__init__(seed)
        self.held = None

    def to_server(self, message):
        if self.held is None:
            if is_addition(message, "mine") or is_addition(message, "ours"):
                self.held = message
                return [], []
            return [message], []
        first, self.held = self.held, None
        if is_addition(message, first["params"]["store"]):
            inputs = first["params"]["input"], message["params"]["input"]
            message["params"]["input"], first["params"]["input"] = inputs
        return [first, message], []


class OtherPatch(Fault):
    """Changes a value in an update, for one client alone."""

    expected = frozenset({"two states"})

    def to_client(self, message):
        if message.get("method") == "store/changed" and self.should_apply():
            for operation in message["params"].get("patch", []):
                if operation["op"] == "add" and "completed" in operation["value"]:
                    operation["value"]["completed"] = True
        return [message]


class MissingUpdate(Fault):
    """Drops an update."""

    expected = frozenset({"base", "early response"})

    def to_client(self, message):
        return [] if message.get("method") == "store/changed" and self.should_apply() else [message]


class UpdateTwice(Fault):
    """Delivers an update twice."""

    expected = frozenset({"base"})

    def to_client(self, message):
        return [message] * (2 if message.get("method") == "store/changed" and self.should_apply() else 1)


class EarlyResponse(Fault):
    """Delivers an update after the response that it belongs to."""

    expected = frozenset({"early response"})

    def __init__(self, seed):
        super().__init__(seed)
        self.held = []

    def to_client(self, message):
        if message.get("method") == "store/changed" and (self.held or self.should_apply()):
            self.held.append(message)
            return []
        messages, self.held = [message, *self.held], []
        return messages


class OldRevision(Fault):
    """Lowers the revision of a response, as a former owner of the session would."""

    expected = frozenset({"goes back"})

    def to_client(self, message):
        result = message.get("result")
        if isinstance(result, dict) and "changed" in result and result["revision"] > 2 and self.should_apply():
            result["revision"] -= 2
        return [message]


class ForgottenSequence(Fault):
    """Lowers the sequence that `session/attach` returns."""

    expected = frozenset({"forgotten sequence"})

    def to_client(self, message):
        result = message.get("result")
        if isinstance(result, dict) and result.get("sequence"):
            result["sequence"] -= 1
        return [message]


FAULTS = {
    "lost-input": LostInput, "input-twice": InputTwice, "reordered": Reordered, "other-patch": OtherPatch,
    "missing-update": MissingUpdate, "update-twice": UpdateTwice, "early-response": EarlyResponse,
    "old-revision": OldRevision, "forgotten-sequence": ForgottenSequence,
}


class FaultBalancer(Balancer):
    """Puts a fault into each connection."""

    def __init__(self, targets, host, fault, seed):
        self.fault, self.seeds = fault, random.Random(seed)
        super().__init__(targets, host)

    async def _accept(self, reader, writer):
        try:
            there = await asyncio.open_connection(*self.targets[0], limit=LIMIT)
        except OSError:
            writer.close()
            return
        fault = self.fault(self.seeds.randrange(1 << 30))
        tasks = [asyncio.ensure_future(self._carry(reader, there[1], writer, fault.to_server)),
                 asyncio.ensure_future(self._carry(there[0], writer, None, lambda line: (fault.to_client(line), [])))]
        await asyncio.wait(tasks)

    async def _carry(self, reader, writer, back, change):
        with contextlib.suppress(OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            first = await reader.read(1)
            if first not in (b"{", b"["):
                writer.write(first)
                await self._copy(reader, writer)
            while first:
                message = json.loads(first + await reader.readuntil(b"\n"))
                # Batches pass as they are.
                onward, backward = ([message], []) if isinstance(message, list) else change(message)
                for target, messages in ((writer, onward), (back, backward)):
                    for single in messages:
                        target.write(json.dumps(single).encode() + b"\n")
                await writer.drain()
                first = await reader.read(1)
        with contextlib.suppress(OSError):
            writer.close()

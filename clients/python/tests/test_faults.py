# SPDX-License-Identifier: Apache-2.0
"""The conformance tests with planted faults and random cuts."""

from __future__ import annotations

import asyncio
import json
import logging
import random
import unittest
from typing import Any

from statewire import TODO, Backoff, Client, LimitError, SendResult, digest
from statewire.patch import same
from statewire.types import Todo, TodoInput

from .support import DATA, Proxy, Server, run

# Short delays; other tests check the delays of Backoff.
SOON = Backoff(base=0.01, maximum=0.1)


class FaultTests(unittest.TestCase):
    def setUp(self) -> None:
        logging.disable(logging.WARNING)

    def tearDown(self) -> None:
        logging.disable(logging.NOTSET)

    def test_each_fault_is_detected_and_repaired(self) -> None:
        data = json.loads((DATA / "faults.json").read_text(encoding="utf-8"))
        for scenario in data["scenarios"]:
            with self.subTest(scenario["name"]):
                run(self.check_scenario(data, scenario))

    async def check_scenario(self, data: dict[str, Any], scenario: dict[str, Any]) -> None:
        async with (
            await Server.start(*data["server"]) as server,
            await Proxy.start(server, "--scenario", scenario["name"]) as proxy,
        ):
            async with Client(proxy.url, backoff=SOON) as client:
                store = await client.open(TODO, data["store"], data["config"])
                for value in data["inputs"]:
                    await store.send(value)
                was_right = await store.verify()
                self.assertTrue(same(store.state, data["state"]), store.state)
                self.assertEqual(store.revision, data["revision"])
                self.assertEqual(digest(store.state), data["digest"])
                self.assertEqual(set(store.resyncs), set(scenario["noticed"]))
                self.assertEqual(was_right, "digest" not in scenario["noticed"])
                self.assertTrue(await store.verify())
                async with Client(server.url, session=client.session) as other:
                    self.assertEqual((await other.open(TODO, data["store"])).state, store.state)
            await proxy.kill()
            self.assertEqual([json.loads(line) for line in proxy.lines], scenario["plant"])

    def test_random_cuts(self) -> None:
        run(self.cut(seed=1))

    async def cut(self, seed: int) -> None:
        async with (
            await Server.start() as server,
            await Proxy.start(server, "--cuts", "50", "--seed", str(seed)) as proxy,
        ):
            async with Client(
                proxy.url, backoff=SOON, retry_initial_connection=True, maximum_pending=16,
                verify_interval=None,
            ) as client:
                store = await client.open(TODO, "list", {"memory": {"count": 0}})
                await store.send({"type": "stateRequested"})
                titles = [f"todo {number}" for number in range(500)]
                responses = []
                for title in titles:
                    await client.drain()
                    responses.append(store.post({"type": "todoAdded", "title": title}))
                for response in await asyncio.gather(*responses):
                    self.assertLessEqual(response.revision, 501)
                state = store.state
                assert state["type"] == "content"
                self.assertEqual([todo["title"] for todo in state["todos"]], titles)
                self.assertTrue(await store.verify())
                self.assertEqual(store.revision, 501)
                self.assertFalse(store.resyncs)
                self.assertGreater(client.reconnects, 10)

    def test_every_interaction_is_applied_or_refused(self) -> None:
        run(self.interact(seed=1))

    async def interact(self, seed: int) -> None:
        """Compares the list with 1,000 random interactions; those above the limits are refused."""
        pick = random.Random(seed)
        async with (
            await Server.start() as server,
            await Proxy.start(server, "--cuts", "50", "--seed", str(seed)) as proxy,
        ):
            async with Client(
                proxy.url, backoff=SOON, retry_initial_connection=True, maximum_pending=16,
                verify_interval=None,
            ) as client:
                store = await client.open(TODO, "list", {"memory": {"count": 0}})
                await store.send({"type": "stateRequested"})
                typed: list[Todo] = []
                responses: list[asyncio.Future[SendResult]] = []
                for number in range(1000):
                    await client.drain()
                    todo = pick.choice(typed) if typed else None
                    kind = pick.randrange(10) if todo else 0
                    if todo is None or kind < 4:
                        new = Todo(id=f"own {number}", title=f"Todo {number}", completed=False)
                        typed.append(new)
                        value: TodoInput = {"type": "todoAdded", "id": new["id"], "title": new["title"]}
                    elif kind < 6:
                        todo["title"] = f"Renamed {number}"
                        value = {"type": "todoRenamed", "id": todo["id"], "title": todo["title"]}
                    elif kind == 6:
                        todo["completed"] = not todo["completed"]
                        value = (
                            {"type": "todoCompleted", "id": todo["id"]} if todo["completed"]
                            else {"type": "todoReopened", "id": todo["id"]})
                    elif kind == 7:
                        typed.remove(todo)
                        value = {"type": "todoRemoved", "id": todo["id"]}
                    elif kind == 8:
                        typed.remove(todo)
                        place = pick.randrange(len(typed) + 1)
                        before = typed[place]["id"] if place < len(typed) else None
                        typed.insert(place, todo)
                        value = {"type": "todoMoved", "id": todo["id"], "before": before}
                    else:
                        with self.assertRaises(LimitError):
                            await store.send({"type": "todoAdded", "title": "a" * (1 << 20)})
                        continue
                    responses.append(store.post(value))
                await asyncio.gather(*responses)
                self.assertEqual(store.state, {"type": "content", "todos": typed})
                self.assertTrue(await store.verify())
                self.assertGreater(client.reconnects, 5)


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: Apache-2.0
"""Carries out the interactions of Tests/Scripts/unreliable-network with the Python client: URL SCALE."""

import asyncio
import json
import sys
import uuid

from statewire import TODO, Backoff, Client, StatewireError


def client_for(url, scale, **options):
    """Returns a client whose times are all divided by `scale`."""
    return Client(
        url, retry_initial_connection=True, timeout=30 / scale, ping_interval=20 / scale, verify_interval=60 / scale,
        backoff=Backoff(base=0.2 / scale, maximum=10 / scale), **options)


async def lines():
    """Yields the JSON value of each line of standard input."""
    reader = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    while line := await reader.readline():
        yield json.loads(line)


def say(response):
    print(json.dumps(response), flush=True)


class Hands:
    """Sends interactions as inputs, each of which is drawn immediately."""

    def __init__(self, client, store):
        self.client, self.store = client, store
        self.open, self.words = set(), []

    @property
    def todos(self):
        return self.store.state["todos"] if self.store.state["type"] == "content" else []

    def shown(self):
        return [[todo["title"], todo["completed"]] for todo in self.todos]

    def send(self, input, change, times=1):
        for _ in range(times):
            future = self.store.post(
                input, settle=True,
                optimistic=lambda state: {**state, "todos": change(state["todos"])} if "todos" in state else state)
            self.open.add(future)
            future.add_done_callback(self.ended)

    def ended(self, future):
        self.open.discard(future)
        if isinstance(error := future.exception(), StatewireError):
            self.words.append(str(error))
        elif error:
            raise error

    def add(self, title, times):
        todo = {"id": str(uuid.uuid4()), "title": title, "completed": False}
        self.send({"type": "todoAdded", "title": title, "id": todo["id"]},
                  lambda todos: todos if any(other["id"] == todo["id"] for other in todos) else [*todos, todo],
                  times)

    def change(self, id, input, **members):
        self.send({**input, "id": id, **members}, lambda todos: [
            {**todo, **(members or {"completed": input["type"] == "todoCompleted"})} if todo["id"] == id else todo
            for todo in todos])

    def move(self, id, to):
        others = [todo for todo in self.todos if todo["id"] != id]
        before = others[to]["id"] if to < len(others) else None

        def change(todos):
            moved = [todo for todo in todos if todo["id"] == id]
            others = [todo for todo in todos if todo["id"] != id]
            at = next((at for at, todo in enumerate(others) if todo["id"] == before),
                      len(others) if before is None else None)
            # It may be drawn over a state that already contains it and later changes.
            return todos if at is None else [*others[:at], *moved, *others[at:]]

        self.send({"type": "todoMoved", "id": id, "before": before}, change)

    def act(self, interaction):
        act, times = interaction["act"], 2 if interaction.get("twice") else 1
        if act in ("add", "refused"):
            self.add(interaction["title"], times)
            return {}
        todo = next((todo for todo in self.todos if todo["title"] == interaction["row"]), None)
        if todo is None:
            return {"missing": True}
        id = todo["id"]
        if act == "rename":
            self.change(id, {"type": "todoRenamed"}, title=interaction["title"])
        elif act == "tick":
            is_completed = todo["completed"]
            for _ in range(times):
                is_completed = not is_completed
                self.change(id, {"type": "todoCompleted" if is_completed else "todoReopened"})
        elif act == "remove":
            self.send({"type": "todoRemoved", "id": id},
                      lambda todos: [todo for todo in todos if todo["id"] != id], times)
        elif act == "move":
            self.move(id, interaction["to"])
        return {}

    def respond(self, interaction):
        if interaction["act"] == "look":
            return {"shown": self.shown()}
        if interaction["act"] == "end":
            return {"pending": len(self.open), "shown": self.shown(), "words": self.words,
                    "reconnects": self.client.reconnects}
        return self.act(interaction)


async def main():
    url, scale = sys.argv[1], float(sys.argv[2])
    async with client_for(url, scale) as client:
        store = await client.open(TODO)
        await store.send({"type": "stateRequested"}, settle=True)
        hands = Hands(client, store)
        say({"ready": True})
        async for interaction in lines():
            try:
                say(hands.respond(interaction))
            except Exception as error:
                say({"failed": repr(error)})


if __name__ == "__main__":
    asyncio.run(main())

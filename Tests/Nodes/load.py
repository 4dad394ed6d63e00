# SPDX-License-Identifier: Apache-2.0
"""The stores of a client of the chaos run, and the inputs that it sends to them.

- `mine-NAME`: a list in memory that this client alone writes, with all inputs of the kind (see replay.py);
- `ours`: a list in memory that all clients of the session write;
- `shared`: a list in the database that all sessions show and write;
- `add-NAME`: the kind `addTodo`, which adds to the same list;
- `form-NAME`, `timer-NAME`, `balance`: a form, a load that takes a second and a half, and the balance.

Each title is unique. No title has an id of the client: the server would hide an input that it applies twice.
Lists stay short, since each client removes its oldest titles. javascript_client.js follows the same rules.
"""

import random

LIST = "chaos"
TIMER = {"type": "mock", "states": [
    {"state": {"type": "loading", "progress": None}}, {"after": 1.5, "state": {"type": "loaded", "value": "late"}}]}


def stores(name):
    """Returns kind and configuration of each store of a client."""
    return {
        f"mine-{name}": ("todo", {"memory": {"count": 0}}),
        "ours": ("todo", {"memory": {"count": 0}}),
        "shared": ("todo", {"list": LIST}),
        f"add-{name}": ("addTodo", {"list": LIST}),
        f"form-{name}": ("form", {}),
        f"timer-{name}": ("loading", TIMER),
        "balance": ("balance", {}),
    }


class Load:
    """Chooses inputs at random, from a seed."""

    def __init__(self, name, seed):
        self.name, self.random = name, random.Random(seed)
        self.count = 0
        # Ids whose removal was sent, by store.
        self.removing = {}

    def next(self, states):
        """Returns the next input as (store, value, settle); `states` has the state of each store, or None."""
        name = self.name
        store = self.random.choices(
            [f"mine-{name}", "ours", "shared", f"add-{name}", f"form-{name}", f"timer-{name}", "balance"],
            [40, 20, 22, 3, 6, 5, 4])[0]
        state = states.get(store)
        if store.startswith("add"):
            return store, {"type": "addTodo", "title": self.title()}, self.random.random() < 0.5
        if store.startswith("form"):
            return store, {"type": "entriesChanged", "firstEntry": self.title(), "secondEntry": self.title()}, False
        if store.startswith("timer"):
            is_loading = state is None or state["type"] == "loading"
            return (store, {"type": "load"}, True) if not is_loading else self.next(states)
        if store == "balance":
            return store, {"type": "viewDidAppear"}, self.random.random() < 0.5
        settle = store == "shared" and self.random.random() < 0.8
        if state is None or state["type"] != "content":
            return store, {"type": "stateRequested"}, settle
        return store, self.change(store, state["todos"]), settle

    def title(self):
        self.count += 1
        return f"{self.name}:{self.count}"

    def change(self, store, todos):
        """Returns an input that changes a list."""
        removing = self.removing.setdefault(store, set())
        removing &= {todo["id"] for todo in todos}
        own = [todo for todo in todos if todo["id"] not in removing and (
            store.startswith("mine") or todo["title"].startswith(self.name + ":"))]
        if len(own) > (12 if store.startswith("mine") else 4):
            removing.add(own[0]["id"])
            return {"type": "todoRemoved", "id": own[0]["id"]}
        if not own or not store.startswith("mine") or self.random.random() < 0.5:
            return {"type": "todoAdded", "title": self.title()}
        todo, other = self.random.choice(own), self.random.choice(own)
        kind = self.random.choice(["todoRemoved", "todoRenamed", "todoCompleted", "todoReopened", "todoMoved"])
        if kind == "todoRemoved":
            removing.add(todo["id"])
        extra = {"todoRenamed": {"title": self.title()},
                 "todoMoved": {"before": self.random.choice([None, other["id"]])}}.get(kind, {})
        return {"type": kind, "id": todo["id"], **extra}

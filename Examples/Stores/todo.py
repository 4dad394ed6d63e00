# SPDX-License-Identifier: Apache-2.0
"""The built-in store kind `todo` with a list in memory, written in Python: the same inputs, view states and refusals.

A list in a database, which several sessions share, and quotas are not part of it.
"""

from statewire.stores import Refusal, StoreKind, action, serve

MAXIMUM_COUNT = 100_000
FAILED = {"type": "failed"}
# Characters that Unicode calls white space. (`str.isspace` is true for some others, too.)
SPACES = frozenset("\t\n\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000") | {chr(c) for c in range(0x2000, 0x200B)}


def initial(configuration):
    memory, name = configuration.get("memory"), configuration.get("list")
    if name is not None:
        expected(name, str, "a string", ["list"])
        both = "a list is named or in memory, not both"
        raise Refusal("this store has lists in memory only" if memory is None else both, ["list"])
    count = {} if memory is None else expected(memory, dict, "an object", ["memory"]).get("count")
    count = 0 if count in (None, {}) else expected(count, int, "an integer", ["memory", "count"])
    if not 0 <= count <= MAXIMUM_COUNT:
        raise Refusal(f"the count must be 0 to {MAXIMUM_COUNT}", ["memory", "count"])
    todos = [todo(str(number), f"Todo {number}") for number in range(1, count + 1)]
    return {"shown": "loading", "todos": todos, "made": count}


def todo(id, title):
    return {"id": id, "title": title, "completed": False}


def update(state, event, context):
    return (act if context.is_action else receive)(state, event)


def receive(state, input):
    """Checks an input, and asks for its operation. Tests inject faults into operations by name."""
    match member(input, "type", str):
        case "stateRequested":
            load = action({"type": "loaded"}, name="getTodos", failed=FAILED, id="todos", latest=True)
            return state if state["shown"] == "content" else {**state, "shown": "loading"}, load
        case "todoAdded":
            change = {"type": "add", "title": title(input), "id": optional(input, "id")}
            if change["id"] is not None and not 1 <= len(change["id"].encode()) <= 64:
                raise Refusal("an id has 1 to 64 bytes", ["id"])
        case "todoRemoved":
            change = {"type": "remove", "id": member(input, "id", str)}
        case "todoRenamed":
            change = {"type": "rename", "id": member(input, "id", str), "title": title(input)}
        case "todoCompleted":
            change = {"type": "complete", "id": member(input, "id", str)}
        case "todoReopened":
            change = {"type": "reopen", "id": member(input, "id", str)}
        case "todoMoved":
            change = {"type": "move", "id": member(input, "id", str), "before": optional(input, "before")}
        case unknown:
            raise Refusal(f"unknown type {unknown!r}", ["type"])
    return state, action(change, name=f"{change['type']}Todo", failed=FAILED)


def act(state, action):
    """Folds the result of an operation."""
    match action["type"]:
        case "failed":
            return {**state, "shown": "error"}
        case "loaded":
            return {**state, "shown": "content"}
        case "add":
            return added(state, action["title"], action["id"])
    todos, id = state["todos"], action["id"]
    index = next((index for index, todo in enumerate(todos) if todo["id"] == id), None)
    if index is None:
        return state
    todo, others = todos[index], [*todos[:index], *todos[index + 1 :]]
    match action["type"]:
        case "remove":
            return {**state, "todos": others}
        case "rename":
            todo = {**todo, "title": action["title"]}
        case "complete" | "reopen":
            todo = {**todo, "completed": action["type"] == "complete"}
        case "move":
            ids = [other["id"] for other in others]
            if action["before"] == id or action["before"] not in [None, *ids]:
                return state
            index = len(ids) if action["before"] is None else ids.index(action["before"])
    return {**state, "todos": [*others[:index], todo, *others[index:]]}


def added(state, title, id):
    ids = {todo["id"] for todo in state["todos"]}
    if id in ids:
        return state
    # The number of todos that the list has ever had, plus one, unless this id is in use.
    number = state["made"] + 1
    while str(number) in ids:
        number += 1
    new = todo(str(number) if id is None else id, title)
    return {**state, "todos": [*state["todos"], new], "made": state["made"] + 1}


def view(state):
    match state["shown"]:
        case "content":
            return {"type": "content", "todos": state["todos"]}
        case "error":
            return {"type": "error", "code": "repository.failed", "message": "Oops something went wrong"}
    return {"type": "loading"}


def title(input):
    title = member(input, "title", str)
    if len(title.encode()) > 4096:
        raise Refusal("a title has at most 4096 bytes", ["title"])
    if all(character in SPACES for character in title):
        raise Refusal("a title must not be empty", ["title"])
    return title


def member(input, name, of):
    if name not in input:
        raise Refusal(f"the member {name!r} is missing", [name])
    return expected(input[name], of, "a string", [name])


def optional(input, name):
    return None if input.get(name) is None else member(input, name, str)


def expected(value, of, name, path):
    if not isinstance(value, of) or isinstance(value, bool):
        raise Refusal(f"{path[-1]!r} must be {name}", path)
    return value


todo_kind = StoreKind(initial=initial, update=update, view=view)
if __name__ == "__main__":
    serve(todo_kind)

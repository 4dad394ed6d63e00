# SPDX-License-Identifier: Apache-2.0
"""The conformance store of Tests/Stores/README.md, with the library for Python."""

from statewire.stores import Effect, Refusal, action, after, cancel, event, every, redacted, serve


def initial(configuration):
    count, items = configuration.get("count", 0), configuration.get("items", 0)
    if count < 0:
        raise Refusal("the count is negative", ["count"])
    numbered = [{"id": str(number), "title": f"Item {number}"} for number in range(1, items + 1)]
    return {"count": count, "items": numbered, "map": {}, "last": None, "log": [], "viewers": []}


def inserted(items, item, before):
    at = next((index for index, other in enumerate(items) if other["id"] == before), len(items))
    return [*items[:at], item, *items[at:]]


def update(state, received, context):
    return (acted if context.is_action else changed)(state, received, context)


def changed(state, received, context):
    """Returns the state after an input."""
    items = state["items"]
    item = next((item for item in items if item["id"] == received.get("id")), None)
    others = [other for other in items if other is not item]
    match received["type"]:
        case "add":
            if type(received.get("by")) is not int:
                raise Refusal("by is not an integer", ["by"])
            return {**state, "count": state["count"] + received["by"]}
        case "insert":
            if not received["title"]:
                raise Refusal("the title is empty", ["title"])
            new = {"id": received["id"], "title": received["title"]}
            return {**state, "items": inserted(items, new, received["before"])}
        case "insertAll":
            for index, new in enumerate(received["items"]):
                if not new["title"]:
                    raise Refusal("the title is empty", ["items", index, "title"])
            return {**state, "items": items + received["items"]}
        case "remove" | "move" | "rename" if item is None:
            return state
        case "remove":
            return {**state, "items": others}
        case "move":
            return {**state, "items": inserted(others, item, received["before"])}
        case "rename":
            new = {**item, "title": received["title"]}
            return {**state, "items": [new if other is item else other for other in items]}
        case "put":
            entries = {key: value for key, value in state["map"].items() if key != received["key"]}
            if received["value"] is None:
                return {**state, "map": entries}
            if len(entries) == 4:
                raise Refusal("the map is full", limit="mapKeys")
            return {**state, "map": {**state["map"], received["key"]: received["value"]}}
        case "echo":
            return {**state, "last": received["value"]}
        case "look":
            return {**state, "last": {"now": context.now, "viewer": vars(context.viewer), "name": context.name}}
        case "nothing":
            return state
        case "chain":
            return acted(state, {**received, "type": "chained"}, context)
        case "wait":
            return state, after(received["milliseconds"], {"type": "woke"}, "wait")
        case "start":
            return state, every(received["milliseconds"], {"type": "woke"}, "ticks")
        case "stop":
            return state, [cancel("wait"), cancel("ticks")]
        case "work":
            # The policies are those of the input, so `run` with its parameters is of no use.
            failed = {"type": "workFailed"}
            work = {"name": "work", "arguments": received["arguments"], "failed": failed, **received["policies"]}
            return state, Effect("run", work)
        case "shout":
            shouted = {"type": "shouted", "text": received["text"]}
            return state, [event(shouted, received["to"]), event({"type": "echoed"})]
        case "hide":
            return {**state, "last": None}, redacted()
        case "crash":
            raise RuntimeError("the program has failed")
    raise Refusal("unknown type", ["type"])


def acted(state, received, context):
    """Returns the state after an action."""
    log = state["log"]
    match received["type"]:
        case "chained":
            n = received["n"]
            effects = [action({"type": "chained", "n": n - 1})] if n > 1 else []
            return {**state, "count": state["count"] + 1}, effects
        case "woke":
            return {**state, "log": [*log, "woke"]}
        case "worked":
            return {**state, "last": received["value"], "log": [*log, "worked"]}
        case "workFailed":
            return {**state, "log": [*log, f"failed: {context.error['reason']}"]}


def view(state, viewer, configuration):
    if configuration.get("view"):
        seen = {"count": state["count"], "items": state["items"]}
        return {**seen, "you": viewer.frontend} if viewer.frontend else seen


def viewers(state, viewers):
    return {**state, "viewers": [viewer.frontend for viewer in viewers if viewer.frontend is not None]}


def migrate(version, state):
    items = [{"id": str(number), "title": title} for number, title in enumerate(state["titles"], 1)]
    return {**initial({}), "count": state["number"], "items": items}


def work(arguments, context):
    match arguments["do"]:
        case "give":
            return {"type": "worked", "value": arguments["value"]}
        case "fail":
            raise RuntimeError(arguments["message"])
        case "count":
            for number in range(arguments["to"]):
                context.send({"type": "worked", "value": number + 1})
        case "retry":
            if context.attempt < arguments["attempts"]:
                raise RuntimeError("not yet")
            return {"type": "worked", "value": context.attempt}
        case "wait":
            context.wait()


serve(
    initial=initial,
    update=update,
    view=view,
    views_by="frontend",
    viewers=viewers,
    version=2,
    migrate=migrate,
    runs={"work": work},
)

# SPDX-License-Identifier: Apache-2.0
"""Planted faults of each kind, which must be found, and compatible changes, which must not be found."""

import copy

import compatibility
import frames
import meta

# The title, the expected message or None, and the change.
CHANGES = [
    # Compatible changes.
    ("a new method", None, lambda d: d["methods"].append({**method(d, "ping"), "name": "new"})),
    ("a new optional param", None,
     lambda d: schema(d, "StoreOpenParams")["properties"].update(note={"type": "string"})),
    ("a new member of a result", None, lambda d: add(d, "StoreSendResult", "more")),
    ("a new member of a view state", None, lambda d: add(d, "AddTodoViewState", "more")),
    ("a new input", None,
     lambda d: schema(d, "TodoInput")["oneOf"].append(
         copy.deepcopy(schema(d, "FormInput")["oneOf"][3]))),
    ("a new error", None,
     lambda d: d["components"]["errors"].update(New={"code": -32099, "message": "New."})),
    ("a new store kind", None, lambda d: d["x-stores"].update(new=d["x-stores"]["form"])),
    ("a new limit", None, lambda d: schema(d, "LimitName")["enum"].append("new")),
    ("a param allows more values", None, lambda d: prop(d, "SessionTraceParams", "on").update(
        type=["boolean", "null"])),
    ("a longer title", None, lambda d: schema(d, "TodoTitle").update(maxLength=9999)),
    ("a result allows fewer values", None, lambda d: prop(d, "StoreStateResult", "digest").update(maximum=9)),
    ("an optional member of a result is required", None,
     lambda d: schema(d, "LimitData")["required"].append("path")),
    ("a description", None, lambda d: schema(d, "Todo").update(description="One entry.")),
    # Changes that break a client.
    ("a method is removed", "store/send: is removed", lambda d: d["methods"].remove(method(d, "store/send"))),
    ("a method is renamed", "ping: is removed", lambda d: method(d, "ping").update(name="pong")),
    ("a notification is removed", "store/event: is removed",
     lambda d: d["methods"].remove(method(d, "store/event"))),
    ("a param is removed", "store/send, params.settle: is removed",
     lambda d: schema(d, "StoreSendParams")["properties"].pop("settle")),
    ("an optional param is required", "store/send, params.settle: is required now",
     lambda d: schema(d, "StoreSendParams")["required"].append("settle")),
    ("a new param is required", "store/state, params.more: is required now",
     lambda d: add(d, "StoreStateParams", "more")),
    ("a param is another type", "store/state, params.store: was string, is integer",
     lambda d: prop(d, "StoreStateParams", "store").update(type="integer")),
    ("a param does not allow null any more", "store/send, params.settle: was null, is boolean",
     lambda d: prop(d, "StoreSendParams", "settle").update(type="boolean")),
    ("a param allows fewer values", "store/send, params.sequence: minimum is higher",
     lambda d: prop(d, "StoreSendParams", "sequence").update(minimum=2)),
    ("a shorter title", "store todo, input, todoAdded.title: maxLength is lower",
     lambda d: schema(d, "TodoTitle").update(maxLength=100)),
    ("a string has a pattern", "store todo, input, todoAdded.title: has another pattern",
     lambda d: schema(d, "TodoTitle").update(pattern="^[a-z]+$")),
    ("a value of a param is removed", "frontend/lifecycle, params.phase: 'inactive' is removed",
     lambda d: schema(d, "FrontendLifecyclePhase")["enum"].remove("inactive")),
    ("an input is removed", "store todo, input, todoMoved: is removed",
     lambda d: remove_case(d, "TodoInput", "todoMoved")),
    ("a node of a deep tree is removed", "store loading, config, cache: is removed",
     lambda d: remove_case(d, "LoaderConfigurationNode", "cache")),
    ("a member of a result is removed", "store/send, result.changed: is removed",
     lambda d: [schema(d, "StoreSendResult")["properties"].pop("changed"),
                schema(d, "StoreSendResult")["required"].remove("changed")]),
    ("a member of a result is optional", "store/send, result.changed: is optional now",
     lambda d: schema(d, "StoreSendResult")["required"].remove("changed")),
    ("a result allows more values", "store/send, result.revision: was integer, is number",
     lambda d: prop(d, "StoreSendResult", "revision").update(type="number")),
    ("a result may be null", "session/open, result.session: was string, is null",
     lambda d: prop(d, "SessionOpenResult", "session").update(type=["string", "null"])),
    ("a result may be anything", "ping, result: was object, is anything",
     lambda d: method(d, "ping")["result"].update(schema={})),
    ("a result is removed", "ping: has no response any more",
     lambda d: method(d, "ping").pop("result")),
    ("a view state is new", "store todo, viewState, archived: is new, and older clients do not know it",
     lambda d: schema(d, "TodoViewState")["oneOf"].append(
         {"type": "object", "properties": {"type": {"const": "archived"}}, "required": ["type"]})),
    ("a view state is removed", "store todo, viewState: there is no error any more",
     lambda d: remove_case(d, "TodoViewState", "error")),
    ("a member deep in a view state is removed", "store todo, viewState, content.todos[].title: is removed",
     lambda d: [schema(d, "Todo")["properties"].pop("title"), schema(d, "Todo")["required"].pop(1)]),
    ("a value is new", "session/closed, params.reason: 'tired' is new",
     lambda d: schema(d, "SessionClosedReason")["enum"].append("tired")),
    ("a value is removed", "session/closed, params.reason: 'evicted' is removed",
     lambda d: schema(d, "SessionClosedReason")["enum"].remove("evicted")),
    ("a store kind is removed", "store form: is removed", lambda d: d["x-stores"].pop("form")),
    ("the events of a store kind are removed", "store form, event: is removed",
     lambda d: d["x-stores"]["form"].pop("event")),
    ("an error has another number", "error -32010: is not UnknownStore any more",
     lambda d: d["components"]["errors"]["UnknownStore"].update(code=-32099)),
    ("data of an error is removed", "error -32015, data: is removed",
     lambda d: d["x-error-data"].pop("Limit")),
    ("a method is for tests", "ping: is for tests only",
     lambda d: method(d, "ping").update({"x-for-tests": True})),
]

GOOD = r"""
# good:1
--> {"jsonrpc":"2.0","id":1,"method":"store/open","params":{"store":"a","kind":"todo","config":{"memory":{"count":1}}}}
<-- {"jsonrpc":"2.0","id":1,"result":{"revision":0}}
--> {"jsonrpc":"2.0","id":2,"method":"store/subscribe","params":{"store":"a"}}
<-- {"jsonrpc":"2.0","id":2,"result":{"revision":0,"state":{"type":"content","todos":[{"id":"1","title":"A","completed":false}]}}}
--> {"jsonrpc":"2.0","id":3,"method":"store/send","params":{"store":"a","input":{"type":"todoCompleted","id":"1"}}}
<-- {"jsonrpc":"2.0","method":"store/changed","params":{"store":"a","base":0,"revision":1,"patch":[{"op":"replace","path":"/todos/0/completed","value":true}],"applied":3}}
<-- {"jsonrpc":"2.0","id":3,"result":{"revision":1,"changed":true}}
--> {"jsonrpc":"2.0","id":4,"method":"store/send","params":{"store":"a","input":{"type":"todoCompleted","id":1}}}
<-- {"jsonrpc":"2.0","id":4,"error":{"code":-32602,"message":"no","data":{"path":"/input/id"}}}
"""

# A text, its replacement, and the expected message.
FRAMES = [
    ('"result":{"revision":0}', '"result":{"revision":"0"}', "result: '0' is not of type 'integer'"),
    ('"result":{"revision":0}', '"result":{}', "result: 'revision' is a required property"),
    ('"value":true', '"value":"yes"', "viewState of todo: "),
    ('"title":"A",', '', "viewState of todo: "),
    ('"applied":3', '"applied":[]', "params: "),
    ('"type":"todoCompleted","id":"1"', '"type":"todoEaten"', "is a result, but the request does not conform"),
    ('"kind":"todo"', '"kind":"form"', "viewState of form: "),
    ('"count":1', '"count":-1', "is a result, but the request does not conform"),
    ('"method":"store/subscribe"', '"method":"store/watch"', "is a result, but the request does not conform"),
    ('store/changed', 'store/changes', "unknown notification"),
    ('-32602', '-32999', "unknown error -32999"),
    ('-32602', '-32019', "data of OutOfOrder: "),
    ('"code":-32602,"message":"no","data":{"path":"/input/id"}', '"code":-32012,"message":"no"',
     "store/send does not list the error UnknownSession"),
    (',"data":{"path":"/input/id"}', '', "data of InvalidParams is missing"),
    ('"id":3,"result"', '"id":9,"result"', "is a response without a request"),
    ('"id":2,"result":', '"id":2,"result":null,"error":', "is not a response"),
]

DOCUMENTS = [
    (lambda d: d.pop("info"), "OpenRPC: 'info' is a required property"),
    (lambda d: d["methods"][0].pop("name"), "OpenRPC: "),
    (lambda d: d["methods"][0].update(unheard=1), "OpenRPC: "),
    (lambda d: schema(d, "Todo").update(type="thing"), "OpenRPC: "),
]


def check(document):
    """Returns a summary if a planted change was not classified correctly; otherwise None."""
    missed = []
    for what, expected, change in CHANGES:
        changed = copy.deepcopy(document)
        change(changed)
        found = compatibility.breaches(document, changed)
        if expected is None and found:
            missed.append(f"{what}: compatible, but reported: {found}")
        if expected is not None and expected not in found:
            missed.append(f"{what}: not found: {expected!r} is not in {found}")
    found, _ = frames.check(document, GOOD)
    if found:
        missed.append(f"correct frames were reported: {found}")
    for right, wrong, expected in FRAMES:
        assert right in GOOD, right
        found, _ = frames.check(document, GOOD.replace(right, wrong))
        if not any(f"good:1: {expected}" in fault for fault in found):
            missed.append(f"{wrong}: not found: {expected!r} is not in {found}")
    for change, expected in DOCUMENTS:
        changed = copy.deepcopy(document)
        change(changed)
        if not any(fault.startswith(expected) for fault in meta.faults(changed)):
            missed.append(f"not found: {expected!r} is not in {meta.faults(changed)}")
    for one in missed:
        print(f"self-test: {one}")
    if missed:
        return f"self-test: {len(missed)} planted changes were classified incorrectly"
    count = len(CHANGES) + len(FRAMES) + len(DOCUMENTS)
    print(f"schemas: all {count} planted changes were classified correctly")
    return None


def method(document, name):
    return next(one for one in document["methods"] if one["name"] == name)


def schema(document, name):
    return document["components"]["schemas"][name]


def prop(document, name, member):
    """Returns the schema of a member; it must not be shared."""
    return schema(document, name)["properties"][member]


def add(document, name, member):
    schema(document, name)["properties"][member] = {"type": "string"}
    schema(document, name)["required"].append(member)


def remove_case(document, name, case):
    cases = schema(document, name)["oneOf"]
    cases[:] = [one for one in cases if compatibility.name(one) != case]

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Stands between the runner and a conforming program, and breaks one rule: planted.py FAULT COMMAND…

Each fault is a function of one message: of the program (`answer`, with the request that it answers), or of the server
(`request`). It returns the messages that are passed on: objects, or bytes for lines that are not JSON.
"""

import copy
import json
import os
import subprocess
import sys
import threading
import time

FAULTS = {}
# What a fault remembers.
memory = {}


def answer(*methods):
    """Declares a fault in the answers to some methods, or in all lines of the program."""
    def declare(function):
        def changed(message, request):
            method = request.get("method") if request else None
            return function(message, request) if not methods or method in methods else [message]
        FAULTS[function.__name__.replace("_", "-")] = ("answer", changed)
        return function
    return declare


def request(function):
    """Declares a fault in the handling of what the server sends."""
    FAULTS[function.__name__.replace("_", "-")] = ("request", function)
    return function


def result(message, **members):
    return {**message, "result": {**message["result"], **members}} if "result" in message else message


def without(message, member):
    if member not in message.get("result", {}):
        return message
    return {**message, "result": {key: value for key, value in message["result"].items() if key != member}}


UPDATES = ("machine/input", "machine/action", "machine/viewers")


# Messages

@answer()
def text_between_the_lines(message, request):
    return [b"hello", message]


@answer()
def no_version_of_json_rpc(message, request):
    return [{key: value for key, value in message.items() if key != "jsonrpc"}]


@answer(*UPDATES)
def bytes_that_are_not_utf_8(message, request):
    return [json.dumps({**message, "id": message["id"]}).encode() .replace(b"jsonrpc", b"jsonrp\xff")]


@answer(*UPDATES)
def a_number_that_is_not_json(message, request):
    return [json.dumps(result(message, state=float("nan"))).encode()]


@answer(*UPDATES)
def a_line_that_is_too_long(message, request):
    return [json.dumps(message).encode() + b" " * (16 << 20)]


@answer("machine/open")
def too_deep(message, request):
    return [json.dumps(result(message, state=0)).encode().replace(b'"state": 0', b'"state": ' + b"[" * 200 + b"]" * 200)]


@answer(*UPDATES)
def result_and_error(message, request):
    return [{**message, "result": {}, "error": {"code": -32602, "message": "no"}}]


@answer(*UPDATES)
def answered_twice(message, request):
    return [message, message]


@answer(*UPDATES)
def not_answered(message, request):
    return []


@answer()
def another_id(message, request):
    return [{**message, "id": str(message["id"])} if "id" in message else message]


@answer(*UPDATES)
def answers_in_another_order(message, request):
    held = memory.pop("held", None)
    if held:
        return [message, held]
    memory["held"] = message
    # Alone it would never be answered, which is another fault.
    threading.Timer(0.3, lambda: write([memory.pop("held")]) if "held" in memory else None).start()
    return []


@answer(*UPDATES)
def a_request_of_the_program(message, request):
    return [{"jsonrpc": "2.0", "id": 1, "method": "machine/input", "params": {}}, message]


@answer(*UPDATES)
def a_notification_of_its_own(message, request):
    return [{"jsonrpc": "2.0", "method": "machine/log", "params": {}}, message]


@request
def unknown_notifications_are_answered(message):
    if message.get("method") == "machine/later":
        write([{"jsonrpc": "2.0", "id": None, "error": {"code": -32601, "message": "unknown"}}])
        return []
    return [message]


@request
def unknown_members_are_refused(message):
    if "later" in message.get("params", {}) and "id" in message:
        write([{"jsonrpc": "2.0", "id": message["id"], "error": {"code": -32600, "message": "unknown member"}}])
        return []
    return [message]


@request
def requests_after_the_first_of_a_write_are_lost(message):
    is_late = time.monotonic() - memory.get("last", 0) < 0.0005
    memory["last"] = time.monotonic()
    return [] if is_late and message.get("method") in UPDATES else [message]


@request
def it_does_not_end(message):
    memory["stays"] = True
    return [message]


# Descriptions, opening and restarts

@answer("machine/describe")
def another_protocol(message, request):
    return [result(message, protocol=2)]


@request
def it_describes_itself_only_once(message):
    if message.get("method") == "machine/describe" and memory.setdefault("described", message["id"]) != message["id"]:
        return []
    return [message]


@answer("machine/describe")
def schemas_that_refer_to_nothing(message, request):
    return [result(message, schemas={"input": {"$ref": "#/$defs/Input"}})]


@answer("machine/open")
def opened_without_a_state(message, request):
    return [without(message, "state")]


@answer("machine/open")
def a_refused_configuration_is_opened(message, request):
    return [{"jsonrpc": "2.0", "id": message["id"], "result": {"state": 0}} if "error" in message else message]


@answer("machine/restore")
def effects_begin_again(message, request):
    return [result(message, effects=[{"type": "after", "milliseconds": 1, "action": 0}])]


@answer("machine/restore")
def a_state_of_the_same_version_is_sent(message, request):
    return [result(message, state=request["params"]["state"])]


@answer("machine/restore")
def a_newer_state_is_accepted(message, request):
    return [{"jsonrpc": "2.0", "id": message["id"], "result": {}} if "error" in message else message]


@request
def an_old_state_is_not_migrated(message):
    if message.get("params", {}).get("version") == 1:
        write([{"jsonrpc": "2.0", "id": message["id"], "result": {}}])
        return []
    return [message]


@request
def something_is_kept_outside_of_the_state(message):
    # The count is in the first process only.
    if message.get("method") == "machine/restore" and message["params"]["version"] == 2:
        message["params"]["state"]["count"] = 0
    return [message]


@request
def stores_are_mixed(message):
    if message.get("method") == "machine/input":
        message["params"]["store"] = memory.setdefault("store", message["params"]["store"])
    return [message]


# Updates

@answer(*UPDATES)
def state_and_patch(message, request):
    return [result(message, state={}) if "patch" in message.get("result", {}) else message]


@answer(*UPDATES)
def a_patch_that_does_not_apply(message, request):
    return [result(message, patch=[{"op": "remove", "path": "/nothing"}])]


@answer(*UPDATES)
def a_patch_with_another_result(message, request):
    message = copy.deepcopy(message)
    for operation in message.get("result", {}).get("patch", []):
        if operation.get("path") == "/count":
            operation["value"] += 1
    return [message]


@answer(*UPDATES)
def an_unknown_member(message, request):
    return [result(message, revision=1)]


@answer(*UPDATES)
def more_operations_than_needed(message, request):
    patch = message.get("result", {}).get("patch")
    return [result(message, patch=[*patch, patch[0]]) if patch and patch[0]["op"] == "replace" else message]


@answer(*UPDATES)
def changes_without_a_patch(message, request):
    return [without(message, "patch")]


@answer(*UPDATES)
def numbers_as_strings(message, request):
    message = copy.deepcopy(message)
    for operation in message.get("result", {}).get("patch", []):
        if operation.get("path") == "/count":
            operation["value"] = str(operation["value"])
    return [message]


@answer(*UPDATES)
def redacted_is_missing(message, request):
    return [without(message, "redacted")]


@answer(*UPDATES)
def everything_is_redacted(message, request):
    return [result(message, redacted=True)]


@answer(*UPDATES)
def an_event_is_missing(message, request):
    return [without(message, "events")]


@answer(*UPDATES)
def an_event_for_everyone(message, request):
    events = message.get("result", {}).get("events", [])
    return [result(message, events=[{"event": event["event"]} for event in events]) if events else message]


@answer("machine/input", "machine/action", "machine/viewers")
def a_view_of_a_store_without_one(message, request):
    return [result(message, view={})]


@answer(*UPDATES)
def the_view_does_not_change(message, request):
    return [without(message, "viewPatch")]


@answer(*UPDATES)
def views_that_have_not_changed(message, request):
    for key, entry in message.get("result", {}).get("views", {}).items():
        if entry and "view" in entry:
            memory.setdefault("views", {})[key] = entry
    return [result(message, views={**memory.get("views", {}), **message["result"].get("views", {})})
            if "result" in message and memory.get("views") else message]


@answer(*UPDATES)
def views_are_missing(message, request):
    return [without(message, "views")]


# Effects

def changed_effects(message, change):
    effects = message.get("result", {}).get("effects")
    return [result(message, effects=change(copy.deepcopy(effects))) if effects else message]


@answer(*UPDATES)
def effects_are_missing(message, request):
    return changed_effects(message, lambda effects: [])


@answer(*UPDATES)
def effects_in_another_order(message, request):
    return changed_effects(message, lambda effects: effects[::-1])


@answer(*UPDATES)
def an_unknown_effect(message, request):
    return changed_effects(message, lambda effects: [*effects, {"type": "sleep"}])


@answer(*UPDATES)
def an_unknown_member_of_an_effect(message, request):
    return changed_effects(message, lambda effects: [{**effect, "seconds": 1} for effect in effects])


@answer(*UPDATES)
def every_without_an_id(message, request):
    return changed_effects(message, lambda effects: [
        {key: value for key, value in effect.items() if effect["type"] != "every" or key != "id"} for effect in effects])


@answer(*UPDATES)
def seconds_instead_of_milliseconds(message, request):
    return changed_effects(message, lambda effects: [
        {**effect, "milliseconds": 0.5} if "milliseconds" in effect else effect for effect in effects])


@answer(*UPDATES)
def policies_are_missing(message, request):
    kept = {"type", "name", "arguments", "failed"}
    return changed_effects(message, lambda effects: [
        {key: value for key, value in effect.items() if effect["type"] != "run" or key in kept} for effect in effects])


# Work

@answer("machine/run")
def work_without_an_action(message, request):
    return [without(message, "action")]


@answer("machine/run")
def failed_work_has_a_result(message, request):
    return [{"jsonrpc": "2.0", "id": message["id"], "result": {}} if "error" in message else message]


@answer()
def sent_actions_are_missing(message, request):
    return [] if message.get("method") == "machine/send" else [message]


@answer()
def actions_of_unknown_work(message, request):
    return [{**message, "params": {**message["params"], "run": 0}} if "method" in message else message]


@request
def work_that_waits_is_answered(message):
    if (message.get("params", {}).get("arguments") or {}).get("do") == "wait" and message["method"] == "machine/run":
        write([{"jsonrpc": "2.0", "id": message["id"], "result": {}}])
        return []
    return [message]


@request
def inputs_wait_for_work(message):
    if (message.get("params", {}).get("arguments") or {}).get("do") == "wait" and message["method"] == "machine/run":
        memory["busy"] = []
    elif message.get("method") == "machine/cancel":
        return [*memory.pop("busy", []), message]
    if "busy" in memory:
        memory["busy"].append(message)
        return []
    return [message]


# Errors

@answer(*UPDATES)
def refused_with_another_code(message, request):
    return [{**message, "error": {**message["error"], "code": -32603}} if "error" in message else message]


@answer(*UPDATES)
def refused_without_a_path(message, request):
    return [{**message, "error": {**message["error"], "data": {}}} if "error" in message else message]


@answer(*UPDATES)
def refused_with_a_result(message, request):
    return [{"jsonrpc": "2.0", "id": message["id"], "result": {}} if "error" in message else message]


@answer(*UPDATES)
def refused_without_the_limit(message, request):
    data = {key: value for key, value in message.get("error", {}).get("data", {}).items() if key != "limit"}
    return [{**message, "error": {**message["error"], "data": data}} if "error" in message else message]


@answer(*UPDATES)
def a_failure_that_looks_like_a_refusal(message, request):
    return [{**message, "error": {**message["error"], "code": -32602}} if "error" in message else message]


@request
def a_failure_ends_the_program(message):
    if message.get("params", {}).get("input") == {"type": "crash"}:
        os._exit(1)
    return [message]


lock = threading.Lock()


def write(messages):
    with lock:
        for message in messages:
            line = message if isinstance(message, bytes) else json.dumps(message).encode()
            sys.stdout.buffer.write(line + b"\n")
        sys.stdout.buffer.flush()


def main():
    kind, fault = FAULTS[sys.argv[1]]
    program = subprocess.Popen(sys.argv[2:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    requests = {}

    def forward():
        for line in sys.stdin.buffer:
            message = json.loads(line)
            if "id" in message:
                requests[message["id"]] = message
            for changed in fault(message) if kind == "request" else [message]:
                program.stdin.write(json.dumps(changed).encode() + b"\n")
            program.stdin.flush()
        program.stdin.close()

    threading.Thread(target=forward, daemon=True).start()
    for line in program.stdout:
        message = json.loads(line)
        write(fault(message, requests.get(message.get("id"))) if kind == "answer" else [message])
    while memory.get("stays"):
        threading.Event().wait(60)


if __name__ == "__main__":
    main()

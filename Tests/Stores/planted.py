#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Stands between the runner and a conforming program, and breaks one rule: planted.py FAULT COMMAND…

Each fault is a function of one message: of the program (`response`, with the request to which it belongs), or of the
server (`request`). It returns the messages that are passed on: objects, or bytes for lines that are not JSON.
"""

import copy
import json
import os
import subprocess
import sys
import threading
import time

FAULTS = {}
# The values that a fault keeps between messages.
memory = {}


def response(*methods):
    """Declares a fault in the responses to some methods, or in all lines of the program."""
    def declare(function):
        def changed(message, request):
            method = request.get("method") if request else None
            return function(message, request) if not methods or method in methods else [message]
        FAULTS[function.__name__.replace("_", "-")] = ("response", changed)
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

@response()
def text_between_messages(message, request):
    return [b"hello", message]


@response()
def missing_json_rpc_version(message, request):
    return [{key: value for key, value in message.items() if key != "jsonrpc"}]


@response(*UPDATES)
def invalid_utf_8(message, request):
    return [json.dumps({**message, "id": message["id"]}).encode() .replace(b"jsonrpc", b"jsonrp\xff")]


@response(*UPDATES)
def invalid_json_number(message, request):
    return [json.dumps(result(message, state=float("nan"))).encode()]


@response(*UPDATES)
def line_too_long(message, request):
    return [json.dumps(message).encode() + b" " * (16 << 20)]


@response("machine/open")
def nesting_too_deep(message, request):
    return [json.dumps(result(message, state=0)).encode().replace(b'"state": 0', b'"state": ' + b"[" * 200 + b"]" * 200)]


@response(*UPDATES)
def result_and_error(message, request):
    return [{**message, "result": {}, "error": {"code": -32602, "message": "no"}}]


@response(*UPDATES)
def duplicate_response(message, request):
    return [message, message]


@response(*UPDATES)
def missing_response(message, request):
    return []


@response()
def wrong_id(message, request):
    return [{**message, "id": str(message["id"])} if "id" in message else message]


@response(*UPDATES)
def responses_out_of_order(message, request):
    held = memory.pop("held", None)
    if held:
        return [message, held]
    memory["held"] = message
    # A response that stays held would be a missing response, which is another fault.
    threading.Timer(0.3, lambda: write([memory.pop("held")]) if "held" in memory else None).start()
    return []


@response(*UPDATES)
def request_from_the_program(message, request):
    return [{"jsonrpc": "2.0", "id": 1, "method": "machine/input", "params": {}}, message]


@response(*UPDATES)
def unknown_notification_from_the_program(message, request):
    return [{"jsonrpc": "2.0", "method": "machine/log", "params": {}}, message]


@request
def response_to_a_notification(message):
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
def later_requests_of_a_write_are_lost(message):
    is_late = time.monotonic() - memory.get("last", 0) < 0.0005
    memory["last"] = time.monotonic()
    return [] if is_late and message.get("method") in UPDATES else [message]


@request
def program_does_not_exit(message):
    memory["stays"] = True
    return [message]


# Descriptions, opening and restarts

@response("machine/describe")
def wrong_protocol_version(message, request):
    return [result(message, protocol=2)]


@request
def machine_is_described_once_only(message):
    if message.get("method") == "machine/describe" and memory.setdefault("described", message["id"]) != message["id"]:
        return []
    return [message]


@response("machine/describe")
def schema_with_an_unknown_reference(message, request):
    return [result(message, schemas={"input": {"$ref": "#/$defs/Input"}})]


@response("machine/open")
def open_without_a_state(message, request):
    return [without(message, "state")]


@response("machine/open")
def invalid_configuration_is_accepted(message, request):
    return [{"jsonrpc": "2.0", "id": message["id"], "result": {"state": 0}} if "error" in message else message]


@response("machine/restore")
def restore_repeats_effects(message, request):
    return [result(message, effects=[{"type": "after", "milliseconds": 1, "action": 0}])]


@response("machine/restore")
def restore_sends_an_unchanged_state(message, request):
    return [result(message, state=request["params"]["state"])]


@response("machine/restore")
def newer_state_is_accepted(message, request):
    return [{"jsonrpc": "2.0", "id": message["id"], "result": {}} if "error" in message else message]


@request
def older_state_is_not_migrated(message):
    if message.get("params", {}).get("version") == 1:
        write([{"jsonrpc": "2.0", "id": message["id"], "result": {}}])
        return []
    return [message]


@request
def state_outside_of_the_store(message):
    # The count is in the first process only.
    if message.get("method") == "machine/restore" and message["params"]["version"] == 2:
        message["params"]["state"]["count"] = 0
    return [message]


@request
def inputs_of_another_store(message):
    if message.get("method") == "machine/input":
        message["params"]["store"] = memory.setdefault("store", message["params"]["store"])
    return [message]


# Updates

@response(*UPDATES)
def state_and_patch(message, request):
    return [result(message, state={}) if "patch" in message.get("result", {}) else message]


@response(*UPDATES)
def patch_does_not_apply(message, request):
    return [result(message, patch=[{"op": "remove", "path": "/nothing"}])]


@response(*UPDATES)
def wrong_patch(message, request):
    message = copy.deepcopy(message)
    for operation in message.get("result", {}).get("patch", []):
        if operation.get("path") == "/count":
            operation["value"] += 1
    return [message]


@response(*UPDATES)
def unknown_member(message, request):
    return [result(message, revision=1)]


@response(*UPDATES)
def unnecessary_operations(message, request):
    patch = message.get("result", {}).get("patch")
    return [result(message, patch=[*patch, patch[0]]) if patch and patch[0]["op"] == "replace" else message]


@response(*UPDATES)
def missing_patch(message, request):
    return [without(message, "patch")]


@response(*UPDATES)
def numbers_as_strings(message, request):
    message = copy.deepcopy(message)
    for operation in message.get("result", {}).get("patch", []):
        if operation.get("path") == "/count":
            operation["value"] = str(operation["value"])
    return [message]


@response(*UPDATES)
def missing_redacted(message, request):
    return [without(message, "redacted")]


@response(*UPDATES)
def unexpected_redacted(message, request):
    return [result(message, redacted=True)]


@response(*UPDATES)
def missing_event(message, request):
    return [without(message, "events")]


@response(*UPDATES)
def event_without_recipients(message, request):
    events = message.get("result", {}).get("events", [])
    return [result(message, events=[{"event": event["event"]} for event in events]) if events else message]


@response("machine/input", "machine/action", "machine/viewers")
def view_of_a_store_without_views(message, request):
    return [result(message, view={})]


@response(*UPDATES)
def missing_view_patch(message, request):
    return [without(message, "viewPatch")]


@response(*UPDATES)
def unchanged_views(message, request):
    for key, entry in message.get("result", {}).get("views", {}).items():
        if entry and "view" in entry:
            memory.setdefault("views", {})[key] = entry
    return [result(message, views={**memory.get("views", {}), **message["result"].get("views", {})})
            if "result" in message and memory.get("views") else message]


@response(*UPDATES)
def missing_views(message, request):
    return [without(message, "views")]


# Effects

def changed_effects(message, change):
    effects = message.get("result", {}).get("effects")
    return [result(message, effects=change(copy.deepcopy(effects))) if effects else message]


@response(*UPDATES)
def missing_effects(message, request):
    return changed_effects(message, lambda effects: [])


@response(*UPDATES)
def effects_out_of_order(message, request):
    return changed_effects(message, lambda effects: effects[::-1])


@response(*UPDATES)
def unknown_effect(message, request):
    return changed_effects(message, lambda effects: [*effects, {"type": "sleep"}])


@response(*UPDATES)
def unknown_member_of_an_effect(message, request):
    return changed_effects(message, lambda effects: [{**effect, "seconds": 1} for effect in effects])


@response(*UPDATES)
def every_without_an_id(message, request):
    return changed_effects(message, lambda effects: [
        {key: value for key, value in effect.items() if effect["type"] != "every" or key != "id"} for effect in effects])


@response(*UPDATES)
def seconds_instead_of_milliseconds(message, request):
    return changed_effects(message, lambda effects: [
        {**effect, "milliseconds": 0.5} if "milliseconds" in effect else effect for effect in effects])


@response(*UPDATES)
def missing_policies(message, request):
    kept = {"type", "name", "arguments", "failed"}
    return changed_effects(message, lambda effects: [
        {key: value for key, value in effect.items() if effect["type"] != "run" or key in kept} for effect in effects])


# Work

@response("machine/run")
def missing_action_of_work(message, request):
    return [without(message, "action")]


@response("machine/run")
def result_of_failed_work(message, request):
    return [{"jsonrpc": "2.0", "id": message["id"], "result": {}} if "error" in message else message]


@response()
def missing_sent_actions(message, request):
    return [] if message.get("method") == "machine/send" else [message]


@response()
def sent_action_of_unknown_work(message, request):
    return [{**message, "params": {**message["params"], "run": 0}} if "method" in message else message]


@request
def waiting_work_ends_early(message):
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

@response(*UPDATES)
def refusal_with_a_wrong_code(message, request):
    return [{**message, "error": {**message["error"], "code": -32603}} if "error" in message else message]


@response(*UPDATES)
def refusal_without_a_path(message, request):
    return [{**message, "error": {**message["error"], "data": {}}} if "error" in message else message]


@response(*UPDATES)
def result_of_a_refused_input(message, request):
    return [{"jsonrpc": "2.0", "id": message["id"], "result": {}} if "error" in message else message]


@response(*UPDATES)
def refusal_without_the_limit(message, request):
    data = {key: value for key, value in message.get("error", {}).get("data", {}).items() if key != "limit"}
    return [{**message, "error": {**message["error"], "data": data}} if "error" in message else message]


@response(*UPDATES)
def failure_with_the_code_of_a_refusal(message, request):
    return [{**message, "error": {**message["error"], "code": -32602}} if "error" in message else message]


@request
def failure_ends_the_program(message):
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
        write(fault(message, requests.get(message.get("id"))) if kind == "response" else [message])
    while memory.get("stays"):
        threading.Event().wait(60)


if __name__ == "__main__":
    main()

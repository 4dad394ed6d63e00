# SPDX-License-Identifier: Apache-2.0
"""The part that the programs of the tests share.

A program is this file, then the handlers of a test, which replace those below, and a call of `main`. Its argument is a
folder, in which the test sets flags, and in which the program records the requests.
"""

import json
import os
import pathlib
import sys
import time

FOLDER = pathlib.Path(sys.argv[1])
message: dict = {}


class Failure(Exception):
    """Responds to a request with an error that is not a refusal."""


def flag(name):
    """Returns true if the test has set a flag."""
    return (FOLDER / name).exists()


def wait_for(name):
    """Waits until the test sets a flag."""
    while not flag(name):
        time.sleep(0.01)


def respond(result, kind="result"):
    """Responds to the request."""
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], kind: result}), flush=True)


def on_describe(params):
    return {"protocol": 1}


def on_open(params):
    return {"state": {"n": 0}}


def on_restore(params):
    return {}


def on_input(params):
    return {}


def on_action(params):
    return {}


def on_viewers(params):
    return {}


def on_run(params):
    """Begins work that does not end."""


def on_close(params):
    pass


def on_cancel(params):
    pass


def main():
    global message
    record = os.open(FOLDER / "record", os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    for line in sys.stdin:
        message = json.loads(line)
        method, params = message["method"].removeprefix("machine/"), message["params"]
        os.write(record, json.dumps({"process": os.getpid(), "method": method, **params}).encode() + b"\n")
        try:
            result = globals()["on_" + method](params)
        except Failure as failure:
            respond({"code": -32603, "message": str(failure)}, "error")
            continue
        if "id" in message and result is not None:
            respond(result)

# SPDX-License-Identifier: Apache-2.0
"""States that belong to one input: entries of a form, and values that are loaded after some time."""

import json

from record import Violation

KINDS = {"form", "loading"}


def check(session, store, counts):
    """Compares the state of the revision of each first response with its input."""
    violations = []
    inputs = session.inputs(store.name)
    for entry in inputs:
        for response in entry.responses:
            if response.result is None or response.result["revision"] not in store.seen:
                continue
            state, event = store.seen[response.result["revision"]]
            counts["states of one input"] += 1
            if not _fits(json.loads(state), entry, response, inputs):
                violations.append(Violation("wrong state", f"the state of {store.name} is not that of the input",
                                            [entry.sent[0], response.event, event]))
    if store.final is not None and json.loads(store.final[1]).get("type") == "loading":
        violations.append(Violation("wrong state", f"store {store.name} still loads at the end", [store.final[2]]))
    return violations


def _fits(state, entry, response, inputs):
    value = entry.value
    if value["type"] == "entriesChanged":
        # The form of a repeat may have begun again after a restart.
        return not response.is_first or (state["firstEntry"], state["secondEntry"]) == (
            value["firstEntry"], value["secondEntry"])
    if value["type"] == "load":
        # A later load replaces this one, which has settled then.
        return not response.settle or state["type"] != "loading" or any(
            later.sequence > entry.sequence and later.sent[0]["at"] < response.event["at"] for later in inputs)
    return True

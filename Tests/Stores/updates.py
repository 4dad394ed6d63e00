# SPDX-License-Identifier: Apache-2.0
"""The server's side of a store: applies updates to what it keeps, and compares them with the expectations of a step."""

import json

from json_patch import PatchError, applied, same
from program import Violation

EFFECTS = {
    "action": ({"action"}, {"name", "failed", "id", "latest"}),
    "after": ({"milliseconds", "action"}, {"id"}),
    "every": ({"milliseconds", "action", "id"}, set()),
    "cancel": ({"id"}, set()),
    "run": ({"name"}, {"arguments", "id", "failed", "latest", "serial", "debounce", "throttle", "retry", "timeout",
                       "restart"}),
}
ABSENT = object()


def short(value):
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) < 300 else text[:300] + "…"


def check(fact, message):
    if not fact:
        raise Violation(message)


def is_count(value):
    return type(value) is int and value >= 0


class Store:
    """A store that is open: what the server keeps of it."""

    def __init__(self, number, name, configuration):
        self.number, self.name, self.configuration = number, name, configuration
        self.state = self.view = ABSENT
        self.views = {}
        self.viewers = []
        # The ids of the requests without a response, in their order.
        self.pending = []

    def update(self, result, line, step, opens=False):
        """Applies an update, and checks what the step expects."""
        check(isinstance(result, dict), f"an update is not an object: {short(result)}")
        unknown = result.keys() - {
            "state", "patch", "view", "viewPatch", "views", "events", "redacted", "effects"}
        check(not unknown, f"an update has unknown members: {sorted(unknown)}")
        had_view = self.view is not ABSENT
        before = self.state, self.view
        self.state = self._changed(self.state, result, "state", "patch")
        self.view = self._changed(self.view, result, "view", "viewPatch")
        check(opens or had_view or self.view is ABSENT, "a later update adds a view to a store that was opened without")
        changed = self._views(result.get("views", {}))
        if not self.configuration.get("view"):
            # Views that are the state are as good as none, after a restart for example.
            for view in [view for view in (self.view, *self.views.values()) if view is not ABSENT]:
                check(same(view, self.state), f"the store has no view, and sends {short(view)}")
            step = {**step, "view": self.view, "views": changed}
        for name, was, value in (("state", before[0], self.state), ("view", before[1], self.view)):
            expected = expanded(step.get(name, was))
            if name == "state" and "changed" in step:
                expected = applied(step["changed"], was)
            check(
                expected is value or same(expected, value),
                f"the {name} should be {short(expected) if expected is not ABSENT else 'absent'}, "
                f"and is {short(value) if value is not ABSENT else 'absent'}")
        check(same(changed, step.get("views", {})), f"the changed views should be {short(step.get('views', {}))}, "
              f"and are {short(changed)}")
        self._lists(result, step)
        if "operations" in step:
            member = "viewPatch" if step.get("patched") == "view" else "patch"
            count = len(result.get(member, []))
            check(count == step["operations"], f"{member} should have {step['operations']} operations: {short(result)}")
        check(len(line) <= step.get("bytes", len(line)), f"the response has {len(line)} bytes, more than {step.get('bytes')}")

    def _lists(self, result, step):
        events, effects = result.get("events", []), result.get("effects", [])
        check(isinstance(events, list) and isinstance(effects, list), "events and effects are not arrays")
        for event in events:
            check(isinstance(event, dict) and "event" in event and not event.keys() - {"event", "to"},
                  f"an event has a member event, and optionally to: {short(event)}")
            to = event.get("to", [])
            check(isinstance(to, list) and all(isinstance(key, str) for key in to), f"to is not an array of keys: {short(to)}")
        for effect in effects:
            check_effect(effect)
        check(isinstance(result.get("redacted", False), bool), "redacted is not a boolean")
        for name, value in (("events", events), ("effects", effects), ("redacted", result.get("redacted", False))):
            expected = step.get(name, False if name == "redacted" else [])
            check(same(expected, value), f"the {name} should be {short(expected)}, and are {short(value)}")

    def _changed(self, value, result, whole, patch):
        check(not (whole in result and patch in result), f"an update has {whole} and {patch}")
        if whole in result:
            return result[whole]
        if patch not in result:
            return value
        check(value is not ABSENT, f"an update has {patch} and there is no {whole}")
        try:
            return applied(result[patch], value)
        except PatchError as error:
            raise Violation(f"{patch} does not apply: {error}: {short(result[patch])}") from None

    def _views(self, views):
        check(isinstance(views, dict), "views is not an object")
        changed = {}
        for key, entry in views.items():
            if entry is None:
                check(key in self.views, f"the view of {key!r} is removed, and there is none")
                del self.views[key]
                changed[key] = None
                continue
            check(isinstance(entry, dict) and len(entry) == 1 and entry.keys() <= {"view", "viewPatch"},
                  f"an entry of views has view or viewPatch: {short(entry)}")
            value = self._changed(self.views.get(key, ABSENT), entry, "view", "viewPatch")
            check(not same(self.views.get(key, ABSENT), value), f"the view of {key!r} is sent and has not changed")
            self.views[key] = changed[key] = value
        return changed


def expanded(value):
    """Replaces "<items N>" with the items that a store begins with."""
    if isinstance(value, dict) and isinstance(value.get("items"), str):
        count = int(value["items"].strip("<>").split()[1])
        return value | {"items": [{"id": str(number), "title": f"Item {number}"} for number in range(1, count + 1)]}
    return value


def check_effect(effect):
    """Checks the form of an effect."""
    check(isinstance(effect, dict) and effect.get("type") in EFFECTS, f"an effect has an unknown type: {short(effect)}")
    needed, optional = EFFECTS[effect["type"]]
    members = effect.keys() - {"type"}
    check(needed <= members, f"an effect has no {sorted(needed - members)}: {short(effect)}")
    check(members <= needed | optional, f"an effect has unknown members: {sorted(members - needed - optional)}")
    for name in members & {"id", "name", "serial"}:
        check(isinstance(effect[name], str), f"{name} of an effect is not a string: {short(effect)}")
    for name in members & {"milliseconds", "debounce", "throttle", "timeout"}:
        check(is_count(effect[name]), f"{name} of an effect is not a number of milliseconds: {short(effect)}")
    if members & {"latest", "debounce", "throttle"}:
        check("id" in members, f"an effect needs an id: {short(effect)}")
    check(effect.get("latest", True) is True, f"latest is true or absent: {short(effect)}")
    check(effect.get("restart", "fail") in ("fail", "again"), f"restart is fail or again: {short(effect)}")
    retry = effect.get("retry", {"attempts": 1, "milliseconds": 0})
    check(isinstance(retry, dict) and retry.keys() == {"attempts", "milliseconds"} and is_count(retry["attempts"])
          and is_count(retry["milliseconds"]), f"retry has attempts and milliseconds: {short(effect)}")

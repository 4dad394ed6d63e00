# SPDX-License-Identifier: Apache-2.0
"""Stores in Python: a program that is served, and a TestStore. Tests/Stores has the conformance test."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import enum
import functools
import io
import json
import signal
import subprocess
import sys
import tempfile
import threading
import unittest
from collections.abc import Sequence
from typing import Any, BinaryIO, cast
from unittest import mock

from statewire.stores import (
    Context,
    Effect,
    Refusal,
    StoreKind,
    TestFailure,
    TestStore,
    Viewer,
    Work,
    action,
    after,
    cancel,
    event,
    every,
    run,
)
from statewire.stores.effects import checked, text
from statewire.stores.kind import Machine
from statewire.stores.serving import Program, _response, perform


class Ids(enum.Enum):
    ONE = "one"


class Names(str, enum.Enum):
    TITLE = "title"


class Places(enum.IntEnum):
    SECOND = 1


class Sets(enum.Enum):
    ONE = frozenset({1})


def update(state: Any, received: Any, context: Context) -> Any:
    """A store whose inputs are effects: each test sends those that it needs."""
    log = [*state["log"], received["type"]]
    match received["type"]:
        case "do":
            return None, received["effects"]()
        case "failed":
            assert context.error is not None
            return {"log": [*log, context.error["reason"]]}
        case "mutate":
            state["log"].append("x")
            return state
        case "refuse":
            raise Refusal("no", ["type"])
    return {"log": log}


class Kind:
    """The inputs of tests contain functions, so `TestStore` gets names of them."""

    def __init__(self) -> None:
        self.effects: Any = None
        self.calls: list[Any] = []
        self.store = TestStore(initial={"log": []}, update=self.update, runs={"work": self.work})

    def update(self, state: Any, received: Any, context: Context) -> Any:
        return update(state, {**received, "effects": lambda: self.effects}, context)

    def work(self, arguments: Any, context: Any) -> Any:
        self.calls.append(arguments)
        if arguments == "fail" or (arguments == "retry" and context.attempt < 3):
            raise ValueError("no")
        if arguments == "send":
            context.send({"type": "sent"})
        return {"type": f"done {arguments}"}

    def do(self, *effects: Any) -> TestStore:
        self.effects = list(effects)
        self.store.send({"type": "do"})
        return self.store

    def take(self, *names: str) -> None:
        for name in names:
            self.store.receive({"type": name})


FAILED = {"type": "failed"}


class TestStores(unittest.TestCase):
    def test_immediate_actions_are_part_of_the_input(self) -> None:
        store = Kind().do(action({"type": "a"}), action({"type": "b"}))
        self.assertEqual(store.state, {"log": ["a", "b"]})
        store.finish()

    def test_waits_end_in_the_order_of_their_deadlines(self) -> None:
        kind = Kind()
        tick = {"type": "tick"}
        store = kind.do(after(300, {"type": "c"}), every(200, tick, "ticks"), after(100, {"type": "a"}))
        store.advance(450)
        kind.take("a", "tick", "c", "tick")
        kind.do(cancel("ticks"))
        store.advance(1000)
        store.finish()
        self.assertEqual(store.state, {"log": ["a", "tick", "c", "tick"]})

    def test_actions_and_events_must_be_received(self) -> None:
        kind = Kind()
        store = kind.do(event({"type": "rang"}, ["page"]), run("work", "x"))
        for step in (store.finish, lambda: kind.do(), lambda: store.send({"type": "other"})):
            with self.assertRaisesRegex(TestFailure, "the event .*rang.* was not received"):
                step()
        store.receive_event({"type": "rang"})
        with self.assertRaisesRegex(TestFailure, "nothing else|done x"):
            store.receive({"type": "nothing else"})
        with self.assertRaisesRegex(TestFailure, "received nothing"):
            store.receive({"type": "done x"})

    def test_the_clock_stands_at_a_step_until_it_is_received(self) -> None:
        kind = Kind()
        store = kind.do(after(100, {"type": "a"}), after(200, {"type": "b"}))
        store.advance(300)
        self.assertEqual((store.now, store.state), (100, {"log": []}))
        kind.take("a")
        self.assertEqual((store.now, store.state), (200, {"log": ["a"]}))
        kind.take("b")
        self.assertEqual((store.now, store.state), (300, {"log": ["a", "b"]}))
        store.finish()

    def test_a_wait_of_no_time_ends_without_advance(self) -> None:
        kind = Kind()
        store = kind.do(after(0, {"type": "a"}))
        kind.take("a")
        store.finish()

    def test_effects_that_have_not_ended_are_a_failure(self) -> None:
        with self.assertRaisesRegex(TestFailure, "have not ended"):
            Kind().do(after(1, {"type": "a"})).finish()
        kind = Kind()
        kind.store.inject("work", "hang")
        with self.assertRaisesRegex(TestFailure, "have not ended"):
            kind.do(run("work", "x")).finish()

    def test_an_update_that_changes_its_state_in_place_is_a_failure(self) -> None:
        with self.assertRaisesRegex(TestFailure, "return a new one"):
            Kind().store.send({"type": "mutate"})

    def test_each_store_begins_with_a_state_of_its_own(self) -> None:
        """A store had the items of another session, if an update had changed its state in place."""

        @dataclasses.dataclass(frozen=True)
        class Items:
            items: list[str]

        def add(state: Any, received: str) -> Any:
            items = state.items if isinstance(state, Items) else state["items"]
            items.append(received)
            return state

        state, effects = {"items": list[str]()}, after(1, "later")
        initials: list[Any] = [state, lambda: state, lambda: (state, effects), Items([])]
        for initial in initials:
            with self.subTest(initial):
                first, second = (Machine(StoreKind(initial, add), name, {}) for name in ("a", "b"))
                opened = first.turn("open", {})
                first.turn("input", {"input": "secret"})
                self.assertEqual(second.turn("open", {}), opened)
                self.assertNotIn("secret", text(second.state))

    def test_a_part_that_is_not_json_is_refused_with_its_path(self) -> None:
        """A key that is a number was a string after a restart, and the next change of it failed."""
        key, a_set = "the key 0 cannot be represented in JSON", "a set cannot be represented in JSON"
        cases: list[tuple[Any, str]] = [
            ({0: "x"}, f"{key}$"),
            ({"log": [], 0: "x"}, f"{key}$"),
            ({"log": [], "m": {0: "x"}}, f"{key}, at /m$"),
            ({"log": [{"a": {0: "x"}}]}, f"{key}, at /log/0/a$"),
            ({"log": [], "a/b": [[{1}]]}, f"{a_set}, at /a~1b/0/0$"),
            ({"log": [Sets.ONE]}, "a frozenset cannot be represented in JSON, at /log/0$"),
            ({"log": [10**400]}, "a int cannot be represented in JSON, at /log/0$"),
            ({"log": [], "n": -(10**400)}, "a int cannot be represented in JSON, at /n$"),
            ({"log": [float("nan")]}, "a float cannot be represented in JSON, at /log/0$"),
            ({"log": ["a\ud800"]}, "a str cannot be represented in JSON, at /log/0$"),
            ({"log": [], "\udc00": 1}, r"the key '\\udc00' cannot be represented in JSON$"),
            (({"log": ["x"]}, lambda: after(1, {"x": 10**400})), "a int cannot .*, at /action/x$"),
            (({"log": ["x"]}, lambda: event("\ud800")), "a str cannot .*, at /event$"),
            (({"log": ["x"]}, lambda: after(1, {"x": {0: 1}})), f"{key}, at /action/x$"),
            (({"log": ["x"]}, lambda: event({"x": {0: 1}})), f"{key}, at /event/x$"),
            (({"log": ["x"]}, lambda: run("work", {"x": {1}})), f"{a_set}, at /arguments/x$"),
        ]

        # It contains itself.
        endless: dict[str, Any] = {}
        endless["x"] = endless
        cases.append((endless, "a dict cannot be represented in JSON, at (/x){121}$"))

        def update(state: Any, received: int) -> Any:
            result = cases[received][0]
            return result if isinstance(result, dict) else (result[0], result[1]())

        for index, (_, error) in enumerate(cases):
            machine = Machine(StoreKind({"log": []}, update), "a", {})
            machine.turn("open", {})
            for _ in range(2):
                with self.subTest(error), self.assertRaisesRegex(TypeError, error):
                    machine.turn("input", {"input": index})
            self.assertEqual(machine.state, {"log": []})
            opened = Machine(StoreKind(functools.partial(update, {}, index), update), "a", {})
            with self.subTest(error), self.assertRaisesRegex(TypeError, error):
                opened.turn("open", {})
        view = Machine(StoreKind({}, update, view=lambda state: {"x": {0: 1}}), "a", {})
        with self.assertRaisesRegex(TypeError, f"{key}, at /x$"):
            view.turn("open", {})
        kind = StoreKind(0, update, runs={"work": lambda: {"x": {0: 1}}})
        with self.assertRaisesRegex(TypeError, f"{key}, at /action/x$"):
            perform(kind, Work("work", 1, print), None)

    def test_the_largest_numbers_are_json(self) -> None:
        """A state with the largest float, which stands for no limit, was refused."""
        largest = sys.float_info.max
        for number in (largest, -largest, int(largest)):
            self.assertEqual(json.loads(text(checked([number]))), [number])
        for number in (int(largest) + 1, float("inf")):
            with self.subTest(number), self.assertRaisesRegex(TypeError, "cannot be represented in JSON"):
                checked([number])

    def test_effects_that_break_the_protocol_are_refused(self) -> None:
        """The server ended the program for all stores of the kind, and a `TestStore` carried them out."""
        longest, wrong = 86_400_000_000, cast(Any, None)
        for milliseconds in (0, longest):
            after(milliseconds, "a")
            for policy in ("debounce", "throttle", "timeout"):
                run("work", id="a", **cast(Any, {policy: milliseconds}))
            run("work", retry=(1, milliseconds))
        every(1, "a", "id")
        run("work", id=cast(Any, Ids.ONE), latest=True, retry=(1_000, 0), restart="again", serial="")
        self.assertEqual(event("e", cast(Any, ("a", Ids.ONE))).members["to"], ["a", Ids.ONE])
        self.assertEqual(action("a", latest=False, id=wrong).members, {"action": "a"})
        times: list[Any] = [-1, longest + 1, 1.0, float("inf"), 10**400, "1", True, [1], {}]
        cases: list[tuple[str, Any, list[Any]]] = [
            ("milliseconds", lambda x: after(x, "a"), [*times, None]),
            ("milliseconds", lambda x: every(x, "a", "id"), [*times, None, 0, False]),
            ("debounce", lambda x: run("work", id="a", debounce=x), times),
            ("throttle", lambda x: run("work", id="a", throttle=x), times),
            ("timeout", lambda x: run("work", timeout=x), times),
            ("milliseconds", lambda x: run("work", retry=(1, x)), [*times, None]),
            ("attempts", lambda x: run("work", retry=(x, 1)), [0, 1_001, 1.0, True, None, "1"]),
            ("", lambda x: run("work", retry=x), [(), 3, "ab", True]),
            ("id", lambda x: action("a", id=x), [1, ["a"], True]),
            ("id", cancel, [None, 1, b"a"]),
            ("id", lambda x: every(1, "a", x), [None, 1]),
            ("id", lambda x: after(1, "a", x), [1]),
            ("name", lambda x: action("a", name=x), [1, {}]),
            ("name", run, [None, 1, {}]),
            ("serial", lambda x: run("work", serial=x), [1, ["a"]]),
            ("restart", lambda x: run("work", restart=x), ["never", "", True, ["fail"]]),
            ("latest", lambda x: run("work", id="a", latest=x), [1, "yes"]),
            ("action", action, [None]),
            ("action", lambda x: after(1, x), [None]),
            ("action", lambda x: every(1, x, "id"), [None]),
            ("event", event, [None]),
            ("to", lambda x: event("e", x), ["ada", "", [1], ["a", None], [Sets.ONE], {1: 2}]),
            ("need an id", lambda x: run("work", **x), [{"latest": True}, {"debounce": 0}, {"throttle": 1}]),
            ("need an id", lambda x: action("a", latest=x), [True]),
            ("exclude each other", lambda x: run("work", id="a", debounce=x, throttle=x), [0, 1]),
        ]
        for name, make, values in cases:
            for value in values:
                with self.subTest(name, value=repr(value)[:40]), self.assertRaisesRegex(TypeError, name):
                    make(value)

    def test_an_effect_that_breaks_the_protocol_changes_nothing(self) -> None:
        def update(state: int, milliseconds: Any) -> Any:
            return state + 1, after(milliseconds, "late")

        kind = StoreKind(initial=0, update=update)
        store, program = TestStore(kind), Program(kind, io.BytesIO())
        opened = {"store": 1, "name": "a", "configuration": {}, "now": 0}
        program.result({"method": "machine/open", "params": opened})
        for milliseconds in (-1, 1.5, 1 << 40, "1", None):
            with self.subTest(milliseconds):
                with self.assertRaisesRegex(TypeError, "milliseconds of the effect after cannot be"):
                    store.send(milliseconds)
                with contextlib.redirect_stderr(io.StringIO()):
                    sent = {"method": "machine/input", "params": {"store": 1, "input": milliseconds}}
                    response = json.loads(_response(7, program.result, sent) or "")
                self.assertEqual(response["error"]["code"], -32603)
                self.assertEqual((store.state, program._machines[1].state), (0, 0))
        store.finish()

    def test_an_update_has_at_most_1000_effects_and_1000_events(self) -> None:
        many: list[Effect] = [*[after(1, "a")] * 1_000, *[event("e")] * 1_000]
        kind = logging({"input": many, "a": [*many, after(1, "a")], "e": [*many, event("e")]})
        machine, store = Machine(kind, "a", {}), TestStore(kind)
        machine.turn("open", {})
        update = json.loads(machine.turn("input", {"input": "input"}))
        self.assertEqual((len(update["effects"]), len(update["events"])), (1_000, 1_000))
        for received in ("a", "e"):
            with self.subTest(received):
                with self.assertRaisesRegex(TypeError, "at most 1,000 effects and 1,000 events"):
                    machine.turn("input", {"input": received})
                with self.assertRaisesRegex(TypeError, "at most 1,000 effects and 1,000 events"):
                    store.send(received)
                self.assertEqual((machine.state, store.state), (["input"], []))

    def test_an_action_with_too_many_effects_for_an_update_is_an_effect(self) -> None:
        """Each of the two updates has few enough, but the library applied the action in the first one."""
        lates = [after(1, "late")] * 700
        machine = Machine(logging({"input": [action("x"), *lates[:400]], "x": lates}), "a", {})
        machine.turn("open", {}, 1_000)
        update = json.loads(machine.turn("input", {"input": "input"}, 1_000))
        self.assertEqual((machine.state, len(update["effects"])), (["input"], 401))
        self.assertEqual(update["effects"][0], {"type": "action", "action": "x"})
        update = json.loads(machine.turn("action", {"action": "x"}, 1_000))
        self.assertEqual((machine.state, len(update["effects"])), (["input", "x"], 700))

    def test_refusals_change_nothing(self) -> None:
        store = Kind().store
        with self.assertRaises(Refusal) as refused:
            store.send({"type": "refuse"})
        self.assertEqual((refused.exception.message, refused.exception.path), ("no", ["type"]))
        self.assertEqual(store.state, {"log": []})

    def test_a_failed_step_changes_nothing(self) -> None:
        """The update of the input stayed, and the next step carried out its effects."""
        calls: list[str] = []
        work = run("work", id="t", throttle=100)

        def update(state: int, received: str) -> Any:
            match received:
                case "begin":
                    return state + 1, [after(5, "late", "l"), after(5, "bad")]
                case "fail":
                    now = [event("rang"), work, action("bad"), action("left")]
                    return state + 10, [cancel("l"), after(1, "none"), *now]
                case "bad":
                    raise Refusal("no")
                case "work":
                    return None, work
            return state + 100

        store = TestStore(initial=0, update=update, runs={"work": lambda: calls.append("work")})
        store.send("begin")
        with self.assertRaises(Refusal):
            store.send("fail")
        self.assertEqual((store.state, store.view_for(Viewer()), calls), (1, 1, []))
        store.send("work")
        self.assertEqual((store.state, calls), (1, ["work"]))
        store.advance(5)
        store.receive("late")
        with self.assertRaises(Refusal):
            store.receive("bad")
        self.assertEqual(store.state, 101)
        store.finish()

    def test_a_store_continues_after_a_failed_action_of_its_restart(self) -> None:
        def update(state: int, received: str) -> Any:
            if received == "bad":
                raise Refusal("no")
            return state + 1, run("work", failed="bad") if received == "work" else []

        store = TestStore(initial=0, update=update)
        store.inject("work", "hang")
        store.send("work")
        with self.assertRaises(Refusal):
            store.restart()
        store.send("other")
        self.assertEqual(store.state, 2)
        store.finish()

    def test_work_sends_actions_and_fails(self) -> None:
        kind = Kind()
        kind.do(run("work", "send"), run("work", "fail", failed=FAILED), run("work", "fail"))
        kind.take("sent", "done send", "failed")
        self.assertEqual(kind.store.state["log"][-1], "error")
        kind.store.finish()

    def test_work_is_repeated_with_doubled_waits(self) -> None:
        kind = Kind()
        store = kind.do(run("work", "retry", retry=(3, 100), failed=FAILED))
        store.advance(100)
        self.assertEqual(len(kind.calls), 2)
        store.advance(199)
        self.assertEqual(len(kind.calls), 2)
        store.advance(1)
        kind.take("done retry")
        store.finish()

    def test_a_timeout_ends_work(self) -> None:
        kind = Kind()
        kind.store.inject("work", "hang")
        store = kind.do(run("work", "x", timeout=500, failed=FAILED))
        store.advance(500)
        kind.take("failed")
        self.assertEqual(store.state["log"][-1], "timeout")
        store.finish()

    def test_debounce_throttle_latest_and_serial(self) -> None:
        kind = Kind()
        store = kind.store
        for name in ("a", "b"):
            kind.do(run("work", name, id="d", debounce=100))
            store.advance(99)
        store.advance(1)
        kind.take("done b")
        for name in ("c", "d", "e"):
            kind.do(run("work", name, id="t", throttle=100))
            if name == "c":
                kind.take("done c")
        store.advance(100)
        kind.take("done e")
        store.inject("work", "hang")
        kind.do(run("work", "f", id="l", latest=True))
        kind.do(run("work", "g", id="l", latest=True))
        kind.take("done g")
        store.inject("work", "hang")
        kind.do(run("work", "h", id="s", serial="queue"), run("work", "i", serial="queue"))
        store.advance(100)
        self.assertNotIn("i", kind.calls)
        kind.do(cancel("s"))
        kind.take("done i")
        store.finish()

    def test_the_timeout_of_work_in_a_queue_begins_with_the_work(self) -> None:
        kind = Kind()
        kind.store.inject("work", "hang", times=2)
        effects = [run("work", name, serial="queue", timeout=500, failed=FAILED) for name in ("a", "b")]
        store = kind.do(*effects)
        store.advance(500)
        kind.take("failed")
        store.advance(499)
        kind.do(run("work", "c", serial="queue"))
        store.advance(1)
        kind.take("failed", "done c")
        store.finish()

    def test_the_latest_effect_cancels_the_others_with_its_id(self) -> None:
        kind = Kind()
        kind.store.inject("work", "hang")
        kind.do(run("work", "a", id="x"))
        store = kind.do(
            after(100, {"type": "b"}, "x"), every(10, {"type": "c"}, "x"),
            run("work", "d", id="x", debounce=50), action({"type": "e"}, id="x", latest=True))  # fmt: skip
        store.advance(100)
        kind.take("done d")
        store = kind.do(after(100, {"type": "f"}, "x"), run("work", "g", id="x", latest=True))
        kind.take("done g")
        store.finish()
        self.assertEqual(store.state["log"], ["e", "done d", "done g"])

    def test_a_restart_ends_work_and_keeps_waits(self) -> None:
        kind = Kind()
        kind.store.inject("work", "hang", times=2)
        store = kind.do(
            run("work", "x", failed=FAILED), run("work", "y", restart="again"), after(100, {"type": "a"}))
        store.restart(after=100)
        self.assertEqual(store.state["log"], ["failed", "interrupted"])
        kind.take("done y")
        store.advance(0)
        kind.take("a")
        store.finish()

    def test_a_restart_begins_the_latest_work_again(self) -> None:
        """It does not cancel the other work with its id, which was interrupted."""
        kind = Kind()
        kind.store.inject("work", "hang", times=2)
        store = kind.do(run("work", "x", id="a", latest=True, restart="again"), run("work", "y", id="a"))
        store.restart()
        kind.take("done x")
        store.finish()

    def test_cancel_ends_the_time_of_throttle(self) -> None:
        kind = Kind()
        kind.do(run("work", "a", id="t", throttle=100))
        kind.take("done a")
        kind.do(cancel("t"), run("work", "b", id="t", throttle=100))
        kind.take("done b")
        kind.store.finish()

    def test_the_times_of_debounce_and_throttle_are_apart(self) -> None:
        """A throttled run took the place of the debounced one with its id."""

        def debounced(name: str) -> Effect:
            return run("work", name, id="x", debounce=50)

        def throttled(name: str) -> Effect:
            return run("work", name, id="x", throttle=100)

        kind = Kind()
        store = kind.do(debounced("a"), throttled("b"), throttled("c"), debounced("d"), throttled("e"))
        kind.take("done b")
        store.advance(50)
        kind.take("done d")
        store.advance(50)
        kind.take("done e")
        kind.do(debounced("f"), throttled("g"), cancel("x"), throttled("h"))
        kind.take("done h")
        store.finish()

    def test_a_restart_keeps_the_queue_of_work(self) -> None:
        kind = Kind()
        kind.store.inject("work", "hang")
        effects = [run("work", name, serial="queue", failed=FAILED) for name in ("a", "b")]
        store = kind.do(*effects)
        store.restart()
        self.assertEqual(store.state["log"], ["failed", "interrupted"])
        kind.take("done b")
        store.finish()

    def test_work_that_a_restart_begins_again_keeps_its_place_in_the_queue(self) -> None:
        kind = Kind()
        kind.store.inject("work", "hang")
        store = kind.do(*(run("work", name, serial="queue", restart="again") for name in ("a", "b")))
        store.restart()
        kind.take("done a", "done b")
        store.finish()

    def test_a_restart_counts_as_a_failed_attempt(self) -> None:
        kind = Kind()
        kind.store.inject("work", "hang", times=2)
        store = kind.do(run("work", "x", retry=(2, 100), failed=FAILED))
        store.restart()
        store.advance(99)
        self.assertEqual(store.state["log"], [])
        store.advance(1)
        store.restart(after=10)
        self.assertEqual(store.state["log"], ["failed", "interrupted"])
        store.finish()

    def test_a_restart_does_not_touch_work_that_waits_for_its_next_attempt(self) -> None:
        kind = Kind()
        kind.store.inject("work", "fail")
        store = kind.do(run("work", "x", retry=(2, 100), failed=FAILED))
        store.restart(after=99)
        self.assertEqual((store.state["log"], kind.calls), ([], []))
        store.advance(1)
        kind.take("done x")
        store.finish()

    def test_a_restart_begins_work_again_without_the_policies_of_its_start(self) -> None:
        kind = Kind()
        kind.store.inject("work", "hang", times=2)
        store = kind.do(
            run("work", "x", id="a", latest=True, restart="again"), after(50, {"type": "later"}, "a"),
            run("work", "y", id="b", throttle=100, restart="again"))  # fmt: skip
        store.advance(10)
        store.restart()
        kind.take("done x", "done y")
        kind.do(run("work", "z", id="b", throttle=100))
        store.advance(89)
        kind.take("later")
        self.assertNotIn("z", kind.calls)
        store.advance(1)
        kind.take("done z")
        store.finish()

    def test_a_restart_keeps_the_timeout_of_work_that_begins_again(self) -> None:
        kind = Kind()
        kind.store.inject("work", "hang", times=2)
        store = kind.do(run("work", "x", timeout=100, restart="again", failed=FAILED))
        store.restart(after=50)
        store.advance(50)
        kind.take("failed")
        self.assertEqual(store.state["log"], ["failed", "timeout"])
        store.finish()

    def test_the_program_gets_the_viewers_after_a_restart(self) -> None:
        calls: list[list[str | None]] = []

        def viewers(state: Any, viewers: list[Viewer]) -> Any:
            calls.append([viewer.identity for viewer in viewers])
            return {"log": [*state["log"], "viewers"]}, action({"type": "greeted"})

        def logged(state: Any, received: Any, context: Context) -> Any:
            return update(state, {**received, "effects": lambda: run("work", failed=FAILED)}, context)

        store = TestStore(initial={"log": []}, update=logged, viewers=viewers)
        store.restart()
        self.assertEqual(calls, [])
        store.present([Viewer("anna")])
        store.inject("work", "hang")
        store.send({"type": "do"})
        store.restart()
        self.assertEqual(calls, [["anna"], ["anna"]])
        log = ["viewers", "greeted", "viewers", "failed", "interrupted", "greeted"]
        self.assertEqual(store.state["log"], log)
        store.finish()

    def test_an_action_can_hang(self) -> None:
        kind = Kind()
        kind.store.inject("operation", "hang", times=2)
        kind.do(action({"type": "a"}, name="operation", id="x", failed=FAILED))
        store = kind.do(action({"type": "b"}, name="operation", failed=FAILED), cancel("x"))
        self.assertEqual(store.state["log"], [])
        store.restart()
        store.advance(1 << 40)
        with self.assertRaisesRegex(TestFailure, '^effects have not ended: [^x]*"b"[^x]*$'):
            store.finish()

    def test_work_with_a_timeout_of_0_is_not_called(self) -> None:
        kind = Kind()
        store = kind.do(run("work", "x", timeout=0, failed=FAILED))
        kind.take("failed")
        self.assertEqual((store.state["log"], kind.calls), (["failed", "timeout"], []))
        store.finish()

    def test_injected_faults_are_not_counted_as_attempts(self) -> None:
        attempts: list[int] = []

        def work(arguments: Any, work: Work) -> None:
            attempts.append(work.attempt)
            raise ValueError

        effect = run("work", retry=(4, 100), failed=FAILED)
        store = TestStore(
            initial={"log": []}, runs={"work": work},
            update=lambda state, received, context: update(
                state, {**received, "effects": lambda: effect}, context))  # fmt: skip
        store.inject("work", "fail", times=2)
        store.send({"type": "do"})
        store.advance(700)
        store.receive(FAILED)
        self.assertEqual((store.state["log"], attempts), (["failed", "error"], [1, 2]))
        store.finish()

    def test_the_wait_between_attempts_is_at_most_a_day(self) -> None:
        kind, day = Kind(), 86_400_000
        kind.store.inject("work", "fail", times=2)
        store = kind.do(run("work", "x", retry=(3, day - 1)))
        store.advance(2 * day - 2)
        self.assertEqual(kind.calls, [])
        store.advance(1)
        kind.take("done x")
        store.finish()

    def test_actions_and_events_are_compared_as_json(self) -> None:
        """0 and False, and 1 and True, are equal in Python."""
        for sent, wrong in ((0, False), (True, 1), ([{"a": 1}], [{"a": True}])):
            kind = Kind()
            kind.do(event({"value": sent}), after(0, {"type": "a", "value": sent}))
            with self.assertRaisesRegex(TestFailure, "expected the event"):
                kind.store.receive_event({"value": wrong})
            with self.assertRaisesRegex(TestFailure, "expected the action"):
                kind.store.receive({"type": "a", "value": wrong})
        kind = Kind()
        kind.do(event({"b": 1, "a": [1.0, True]}))
        kind.store.receive_event({"a": [1, True], "b": 1.0})

    def test_a_view_of_none_is_the_state(self) -> None:
        def view(state: Any, viewer: Viewer) -> Any:
            return {"hidden": True} if viewer.role == "observer" else None

        machine = Machine(
            StoreKind(initial={"secret": 1}, update=lambda state, event: None, view=view, views_by="role"),
            name="a", configuration={})  # fmt: skip
        opened = json.loads(machine.turn("open", {}))
        self.assertEqual(opened, {"state": {"secret": 1}})
        viewers = {"viewers": [{"role": "observer"}, {"role": "driver"}]}
        update = json.loads(machine.turn("viewers", viewers))
        views = {"observer": {"view": {"hidden": True}}, "driver": {"view": {"secret": 1}}}
        self.assertEqual(update, {"view": {"secret": 1}, "views": views})

    def test_a_view_of_none_replaces_that_of_an_earlier_process(self) -> None:
        """The server kept the earlier view, and clients saw no change after it."""
        kind = StoreKind(
            initial={"open": True}, update=lambda state, event: {"open": event},
            view=lambda state: None if state["open"] else {"hidden": True})  # fmt: skip
        machine = Machine(kind, name="a", configuration={})
        update = json.loads(machine.turn("restore", {"version": 1, "state": {"open": True}}))
        self.assertEqual(update, {"view": {"open": True}})
        hidden, shown = (json.loads(machine.turn("input", {"input": input})) for input in (False, True))
        self.assertEqual([step["path"] for step in hidden["viewPatch"]], ["/open", "/hidden"])
        self.assertEqual([step["path"] for step in shown["viewPatch"]], ["/hidden", "/open"])
        plain = Machine(StoreKind(initial=0, update=update), name="a", configuration={})
        self.assertEqual(json.loads(plain.turn("restore", {"version": 1, "state": 1})), {})

    def test_a_state_in_another_order_is_not_sent(self) -> None:
        @dataclasses.dataclass(frozen=True)
        class Named:
            count: int
            names: list[dict[str, str]]

        kind = StoreKind(Named(0, []), lambda state, event: state, state=Named)
        state = {"names": [{"id": "a"}, {"b": "c"}], "count": 1}
        restored = Machine(kind, "a", {}).turn("restore", {"version": 1, "state": state})
        self.assertEqual(restored, "{}")

    def test_a_migrated_state_is_sent(self) -> None:
        """0 and False are equal in Python, but not in JSON."""
        kind = StoreKind(
            initial={"done": False}, update=lambda state, event: None, version=2,
            migrate=lambda version, state: {"done": bool(state["done"])})  # fmt: skip
        machine = Machine(kind, name="a", configuration={})
        update = json.loads(machine.turn("restore", {"version": 1, "state": {"done": 0}}))
        self.assertEqual(json.dumps(update), '{"state": {"done": false}}')

    def test_viewers_see_their_view(self) -> None:
        def viewers(state: Any, viewers: list[Viewer]) -> Any:
            return {"names": [viewer.identity for viewer in viewers]}

        store = TestStore(
            initial={"names": []}, update=update, views_by="identity", viewers=viewers,
            view=lambda state, viewer: {"count": len(state["names"]), "you": viewer.identity})  # fmt: skip
        store.present([Viewer(identity="anna"), Viewer()])
        self.assertEqual((store.state, store.view), ({"names": ["anna", None]}, {"count": 2, "you": None}))
        self.assertEqual(store.view_for(Viewer("anna", "page")), {"count": 2, "you": "anna"})

    def test_the_viewers_are_known_also_after_the_update_for_them_has_failed(self) -> None:
        def viewers(state: Any, viewers: list[Viewer]) -> Any:
            raise ValueError("broken")

        kind = StoreKind(
            initial=0, update=lambda state, event: state, views_by="identity", viewers=viewers,
            view=lambda state, viewer: {"you": viewer.identity})  # fmt: skip
        machine = Machine(kind, name="a", configuration={})
        machine.turn("open", {})
        with self.assertRaisesRegex(ValueError, "broken"):
            machine.turn("viewers", {"viewers": [{"identity": "anna"}]})
        update = json.loads(machine.turn("input", {"input": "x"}))
        self.assertEqual(update, {"views": {"anna": {"view": {"you": "anna"}}}})

    def test_a_state_of_an_older_version_is_migrated(self) -> None:
        members: dict[str, Any] = {"initial": {}, "update": update, "version": 2}
        migrated = TestStore(**members, migrate=lambda version, state: {"log": state}, restoring=["a"],
                             restored_version=1)  # fmt: skip
        self.assertEqual(migrated.state, {"log": ["a"]})
        with self.assertRaisesRegex(ValueError, "version 1 cannot be used by version 2"):
            TestStore(**members, restoring=["a"], restored_version=1)

    def test_a_state_is_not_none(self) -> None:
        """A `migrate` without `return` replaced the state by null."""
        kind = StoreKind(lambda: None, update, version=2, migrate=lambda version, state: None)
        for method in ("open", "restore"):
            with self.subTest(method), self.assertRaisesRegex(TypeError, "must return one"):
                Machine(kind, "a", {}).turn(method, {"version": 1, "state": {"count": 3}})

    def test_a_class_is_made_with_its_defaults(self) -> None:
        """Its first members were the configuration and the context."""

        @dataclasses.dataclass(frozen=True)
        class Titled:
            title: str = "x"

        machine = Machine(StoreKind(Titled, lambda state, event: state), "a", {"title": "y"})
        self.assertEqual(json.loads(machine.turn("open", {})), {"state": {"title": "x"}})

    def test_a_restored_state_does_not_lose_members(self) -> None:
        """The state without them replaced the state that the server had."""

        @dataclasses.dataclass(frozen=True)
        class Named:
            count: int
            made: int = dataclasses.field(default=0, init=False)

        for of, state in ((Named, {"count": 1, "name": "x"}), (Named, {"count": 1, "made": 2})):
            kind = StoreKind(Named(0), lambda state, event: state, state=of)
            with self.subTest(state), self.assertRaisesRegex(TypeError, "increase the version"):
                Machine(kind, "a", {}).turn("restore", {"version": 1, "state": state})

    def test_a_new_member_with_a_default_is_sent_after_a_restart(self) -> None:
        """The first change of it was a patch of a member that the server did not have."""

        @dataclasses.dataclass(frozen=True)
        class Named:
            count: int
            name: str = ""

        machine = Machine(StoreKind(Named(0), lambda state, event: state, state=Named), "a", {})
        update = json.loads(machine.turn("restore", {"version": 1, "state": {"count": 1}}))
        self.assertEqual(update, {"state": {"count": 1, "name": ""}})
        again = Machine(StoreKind(Named(0), lambda state, event: state, state=Named), "a", {})
        self.assertEqual(json.loads(again.turn("restore", {"version": 1, "state": update["state"]})), {})

    def test_a_migrated_state_has_the_type_of_states(self) -> None:
        """Its JSON form is accepted too."""

        @dataclasses.dataclass(frozen=True)
        class Votes:
            count: int

        def migrated(new: Any) -> TestStore:
            return TestStore(initial=Votes(0), update=lambda state, event: state, state=Votes, version=2,
                             migrate=lambda version, state: new, restoring=1, restored_version=1)  # fmt: skip

        self.assertEqual(migrated(Votes(1)).state, Votes(1))
        self.assertEqual(migrated({"count": 1}).state, Votes(1))
        with self.assertRaisesRegex(Refusal, "count is missing"):
            migrated({"number": 1})
        with self.assertRaisesRegex(Refusal, "must be a JSON object"):
            migrated(None)


PROGRAM = """
import sys
from statewire.stores import serve
def update(state, event):
    print("printed")
    if event == "two":
        print("\\udc00")
    if event == "fail":
        raise ValueError("broken")
    if event == "nan":
        return {"count": float("nan")}
    if event == "surrogate":
        return {"count": "\\ud800"}
    return {"count": state["count"] + 1, "rest": state["rest"]}
async def work(arguments):
    return arguments
serve(initial={"count": 0, "rest": []}, update=update, runs={"work": work})
"""

# Each look at the clock takes 10 ms. The state is the number of responses in the output of the program.
SLOW = """
import itertools, sys, time
from statewire.stores import serve
ticks = itertools.count()
time.monotonic = lambda: next(ticks) / 100
def update(state, event):
    return {"responses": len(open(sys.argv[1]).readlines())}
serve(initial={"responses": 0}, update=update)
"""


def logging(effects: dict[str, list[Effect]], log: Sequence[str] = ()) -> StoreKind:
    """Returns a store kind that logs what it receives, with the effects of each."""
    return StoreKind([*log], lambda log, name: ([*log, name], effects.get(name, [])))


class Served(unittest.TestCase):
    def serve(self, *requests: tuple[str, dict[str, Any]]) -> tuple[list[Any], str]:
        lines = [
            json.dumps({"jsonrpc": "2.0", "id": id, "method": f"machine/{method}", "params": params}) + "\n"
            for id, (method, params) in enumerate(requests)
        ]
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM], input="".join(lines), capture_output=True, text=True, timeout=60,
            check=True)  # fmt: skip
        return [json.loads(line) for line in done.stdout.splitlines()], done.stderr

    def test_a_print_is_seen_while_the_program_runs(self) -> None:
        opened = {"store": 1, "name": "a", "configuration": {}, "viewer": {}, "now": 0}
        sent = {"store": 1, "viewer": {}, "now": 0, "input": "one"}
        with subprocess.Popen(
            [sys.executable, "-c", PROGRAM], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE, text=True) as program:  # fmt: skip
            assert program.stdin and program.stderr
            for id, (method, params) in enumerate([("open", opened), ("input", sent)]):
                request = {"jsonrpc": "2.0", "id": id, "method": f"machine/{method}", "params": params}
                print(json.dumps(request), file=program.stdin, flush=True)
            self.assertEqual(program.stderr.readline(), "printed\n")
            program.stdin.close()

    def test_an_interrupt_ends_a_program(self) -> None:
        """An author who starts a program in a terminal could not end it."""
        with subprocess.Popen(
            [sys.executable, "-c", PROGRAM], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True) as program:  # fmt: skip
            assert program.stdin and program.stdout
            request = {"jsonrpc": "2.0", "id": 1, "method": "machine/describe", "params": {"protocol": 1}}
            print(json.dumps(request), file=program.stdin, flush=True)
            program.stdout.readline()
            program.send_signal(signal.SIGINT)
            try:
                self.assertEqual(program.wait(30), -signal.SIGINT)
            finally:
                program.kill()

    def test_a_long_number_is_an_error_of_its_input(self) -> None:
        opened: dict[str, Any] = {"store": 1, "name": "a", "configuration": {}, "now": 0, "input": "one"}
        long = {"store": 1, "now": 0, "input": 7}
        lines = [
            json.dumps({"jsonrpc": "2.0", "id": id, "method": f"machine/{method}", "params": params})
            for id, (method, params) in enumerate([("open", opened), ("input", long), ("input", opened)])
        ]
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM], input="\n".join(lines).replace("7", "7" * 5_000) + "\n",
            capture_output=True, text=True, timeout=60, check=True)  # fmt: skip
        self.assertEqual([json.loads(line)["id"] for line in done.stdout.splitlines()], [0, 1, 2])

    def test_a_failure_keeps_the_state_and_is_logged(self) -> None:
        opened: dict[str, Any] = {"store": 1, "name": "a", "configuration": {}, "viewer": {}, "now": 0}
        sent: dict[str, Any] = {"store": 1, "viewer": {}, "now": 0}
        responses, log = self.serve(
            ("open", opened),
            *(("input", {**sent, "input": text}) for text in ("one", "fail", "nan", "two", "surrogate")),
            ("later", {}))  # fmt: skip
        codes = [response.get("error", {}).get("code") for response in responses]
        self.assertEqual(codes, [None, None, -32603, -32603, None, -32603, -32601])
        self.assertEqual(responses[4]["result"], {"patch": [{"op": "replace", "path": "/count", "value": 2}]})
        self.assertIn("ValueError: broken", log)
        self.assertIn("printed", log)
        # Standard output would not take it.
        self.assertIn("\\udc00\n", log)

    def test_responses_are_not_kept_while_later_requests_take_long(self) -> None:
        """The server ended a program that was only slow, because the first responses came with the last."""
        opened: dict[str, Any] = {"store": 1, "name": "a", "configuration": {}, "input": "", "now": 0}
        requests = [("open", opened)] + [("input", opened)] * 12
        lines = [
            json.dumps({"jsonrpc": "2.0", "id": id, "method": f"machine/{method}", "params": params}) + "\n"
            for id, (method, params) in enumerate(requests)
        ]
        with tempfile.NamedTemporaryFile("r+") as output:
            subprocess.run(
                [sys.executable, "-c", SLOW, output.name], input="".join(lines), stdout=output, text=True,
                timeout=60, check=True)  # fmt: skip
            output.seek(0)
            responses = [json.loads(line) for line in output]
        self.assertEqual(len(responses), 13)
        # The program has found responses in its output.
        self.assertTrue(any("patch" in response["result"] for response in responses))

    def test_immediate_actions_are_applied_before_the_next_input(self) -> None:
        """The server sent them after the inputs that had been sent already."""

        def withdraw(balance: int, received: Any, context: Context) -> Any:
            if context.is_action:
                done = [event({"left": balance - received["amount"]}), after(1, {"type": "late"})]
                return balance - received["amount"], done
            if received > balance:
                raise Refusal("too much")
            return None, [event({"asked": received}), action({"amount": received}, name="withdraw")]

        def results(**description: Any) -> list[Any]:
            program = Program(StoreKind(initial=10, update=withdraw), io.BytesIO())
            program.result({"method": "machine/describe", "params": {"protocol": 1, **description}})
            opened = {"store": 1, "name": "a", "configuration": {}, "now": 0, "input": 10}
            texts = []
            with contextlib.suppress(Refusal):
                for method in ("open", "input", "input"):
                    texts.append(program.result({"method": f"machine/{method}", "params": opened}))
            return [json.loads(text or "") for text in texts]

        late = {"type": "after", "milliseconds": 1, "action": {"type": "late"}}
        opened, first = results()
        self.assertEqual(first["state"], 0)
        self.assertEqual([each["event"] for each in first["events"]], [{"asked": 10}, {"left": 0}])
        self.assertEqual(first["effects"], [late])
        # A test injects faults into actions, so the server carries them out.
        opened, first, second = results(tests=True)
        self.assertEqual(opened, {"state": 10})
        self.assertEqual(first, second)
        self.assertEqual(first["effects"], [{"type": "action", "name": "withdraw", "action": {"amount": 10}}])

    def test_an_action_that_can_be_cancelled_is_an_effect(self) -> None:
        """So are the actions after it: the later one was applied first."""
        effects = [action("first"), after(1, "tick"), action("second", id="a"), action("third")]
        machine = Machine(logging({"input": effects}), name="a", configuration={})
        machine.turn("open", {}, 1_000)
        update = json.loads(machine.turn("input", {"input": "input"}, 1_000))
        self.assertEqual(machine.state, ["input", "first"])
        self.assertEqual(update["effects"], [{"type": each.type, **each.members} for each in effects[1:]])

    def test_applied_actions_have_the_order_of_a_server(self) -> None:
        """The library applies actions in a turn; `TestStore` gets the same effects, as a server does."""
        same = action("x")
        # The effects of the input and of actions, the actions that are applied, and those that come later.
        cases: list[tuple[list[Effect], dict[str, list[Effect]], list[str], list[str]]] = [
            ([same, same], {}, ["x", "x"], []),
            ([action("x"), action("y")], {"x": [action("z")]}, ["x", "y", "z"], []),
            ([action("x", id="a"), action("y")], {}, ["x", "y"], []),
            ([action("x"), action("y", id="a"), action("z")], {"x": [action("w")]}, ["x", "y", "z", "w"], []),
            ([action("x"), after(10, "late", "a")], {"x": [cancel("a")]}, ["x"], []),
            ([after(10, "late", "a"), action("x")], {"x": [cancel("a")]}, ["x"], []),
            ([action("x"), cancel("a")], {"x": [after(10, "late", "a")]}, ["x"], ["late"]),
            ([action("x"), after(10, "b")], {"x": [after(10, "c")]}, ["x"], ["b", "c"]),
        ]
        for effects, more, applied, later in cases:
            with self.subTest(effects):
                kind = logging({**more, "input": effects})
                machine = Machine(kind, name="a", configuration={})
                machine.turn("open", {})
                update = json.loads(machine.turn("input", {"input": "input"}, 1_000))
                left = [Effect(each.pop("type"), each) for each in update.get("effects", [])]
                rest = logging({**more, "rest": left}, machine.state)
                for name, store in (("input", TestStore(kind)), ("rest", TestStore(rest))):
                    store.send(name)
                    self.assertEqual([each for each in store.state if each != "rest"], ["input", *applied])
                    store.advance(10)
                    for each in later:
                        store.receive(each)
                    store.finish()

    def test_a_failure_of_an_immediate_action_changes_nothing(self) -> None:
        def update(state: int, received: str) -> Any:
            if received == "action":
                raise ValueError("broken")
            return state + 1, action("action")

        machine = Machine(StoreKind(initial=0, update=update), name="a", configuration={})
        machine.turn("open", {}, 1)
        with self.assertRaisesRegex(ValueError, "broken"):
            machine.turn("input", {"input": "input"}, 1)
        self.assertEqual(machine.state, 0)

    def test_an_endless_chain_of_actions_does_not_stop_the_program(self) -> None:
        kind = StoreKind(initial=0, update=lambda state, received: (state + 1, action("again")))
        program = Program(kind, io.BytesIO())
        opened = {"store": 1, "name": "a", "configuration": {}, "now": 0, "input": "begin"}
        program.result({"method": "machine/open", "params": opened})
        update = json.loads(program.result({"method": "machine/input", "params": opened}) or "")
        self.assertEqual(update["state"], 1_001)
        self.assertEqual(update["effects"], [{"type": "action", "action": "again"}])

    def test_a_restored_pair_is_a_state(self) -> None:
        """Its second element was taken for the effects."""
        kind = StoreKind(initial=(1, 2), update=lambda state, received: state, state=tuple[int, int])
        machine = Machine(kind, name="a", configuration={})
        machine.turn("restore", {"version": 1, "state": [1, 2]})
        self.assertEqual(machine.state, (1, 2))

    def test_responses_of_slow_requests_are_written_together(self) -> None:
        """After the first 50 ms of a read, each response was a write, which woke the server."""
        output = mock.Mock()
        program = Program(StoreKind(initial={}, update=lambda state, event: state), output)
        since = 0.0
        with mock.patch("time.monotonic", side_effect=(each / 1000 for each in range(1, 300))):
            for _ in range(199):
                since = program.write("line\n", since) or since
        self.assertEqual(output.write.call_count, 199)
        self.assertEqual(output.flush.call_count, 3)

    def test_an_update_can_end_the_program(self) -> None:
        opened = {"store": 1, "name": "a", "configuration": {}, "now": 0}
        lines = [
            json.dumps({"jsonrpc": "2.0", "id": id, "method": f"machine/{method}", "params": opened}) + "\n"
            for id, method in enumerate(["describe", "open"])
        ]
        program = "import sys, statewire.stores as s; s.serve(initial=lambda: sys.exit(3), update=None)"
        done = subprocess.run(
            [sys.executable, "-c", program], input="".join(lines), capture_output=True, text=True, timeout=60)
        self.assertEqual((done.returncode, len(done.stdout.splitlines())), (3, 1))

    def test_cancelled_work_sends_nothing(self) -> None:
        """Its actions counted as unknown messages, of which the server accepts a limited number."""
        output, sent, cancelled, done = io.BytesIO(), *(threading.Event() for _ in range(3))

        def work(arguments: Any, work: Work) -> None:
            work.send("first")
            sent.set()
            cancelled.wait(10)
            work.send("second")
            done.set()

        program = Program(StoreKind(initial=0, update=update, runs={"work": work}), cast(BinaryIO, output))
        params = {"store": 1, "run": 5, "name": "work", "arguments": None, "attempt": 1}
        program.result({"id": 1, "method": "machine/run", "params": params})
        self.assertTrue(sent.wait(10))
        program.result({"method": "machine/cancel", "params": {"run": 5}})
        cancelled.set()
        self.assertTrue(done.wait(10))
        messages = [json.loads(line) for line in output.getvalue().splitlines()]
        actions = [each["params"]["action"] for each in messages if "params" in each]
        self.assertEqual(actions, ["first"])

    def test_work_that_ends_by_any_exception_has_a_response(self) -> None:
        """Its effect did not end."""

        def cancelled() -> None:
            raise asyncio.CancelledError

        output, before = io.BytesIO(), threading.enumerate()
        kind = StoreKind(initial=0, update=update, runs={"exit": lambda: sys.exit(1), "cancelled": cancelled})
        program = Program(kind, cast(BinaryIO, output))
        with contextlib.redirect_stderr(io.StringIO()):
            for id, name in enumerate(kind.runs):
                params = {"store": 1, "run": id, "name": name, "arguments": None, "attempt": 1}
                program.result({"id": id, "method": "machine/run", "params": params})
            for thread in {*threading.enumerate()} - {*before}:
                thread.join()
        messages = [json.loads(line)["error"]["message"] for line in output.getvalue().splitlines()]
        self.assertEqual(sorted(messages), ["SystemExit: 1", "asyncio.exceptions.CancelledError"])

    def test_an_error_has_a_response_whatever_its_text_is(self) -> None:
        """The program ended, or the thread of its work did, and the queue of the work did not continue."""

        class Silent(Exception):
            def __str__(self) -> str:
                raise RuntimeError("no text")

        not_texts: Any = ValueError("x"), 5, float("nan"), b"x"
        errors: list[tuple[Exception, dict[str, Any]]] = [
            (Refusal(not_texts[0]), {"code": -32602, "message": "x", "data": {"path": []}}),
            (Refusal(not_texts[1], limit=not_texts[1]),
             {"code": -32602, "message": "5", "data": {"path": [], "limit": "5"}}),
            (Refusal("no", [1, *not_texts[2:]]),
             {"code": -32602, "message": "no", "data": {"path": [1, "nan", "b'x'"]}}),
            (Refusal("no", "title"), {"code": -32602, "message": "no", "data": {"path": ["title"]}}),
            # The path had the names of enum members.
            (Refusal("no", [Names.TITLE, Places.SECOND], Names.TITLE),
             {"code": -32602, "message": "no", "data": {"path": ["title", 1], "limit": "title"}}),
            (Refusal("no", Names.TITLE), {"code": -32602, "message": "no", "data": {"path": ["title"]}}),
        ]  # fmt: skip

        def fail(error: Exception) -> None:
            raise error

        for error, expected in errors:
            with self.subTest(expected):
                self.assertEqual(json.loads(_response(1, fail, error))["error"], expected)
        with contextlib.redirect_stderr(io.StringIO()):
            response = json.loads(_response(1, fail, Silent()))["error"]
            # The first line of its text is a place.
            syntax = json.loads(_response(1, lambda: str(compile("1 +", "", "exec"))))["error"]
        self.assertEqual(response["code"], -32603)
        self.assertRegex(response["message"], "Silent: <.*>$")
        self.assertIn("SyntaxError: invalid syntax", syntax["message"])

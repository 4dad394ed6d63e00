# SPDX-License-Identifier: Apache-2.0
"""A store for tests: it carries out effects as the server does, with a clock that the test moves."""

from __future__ import annotations

import collections
import dataclasses
import json
from collections.abc import Callable
from typing import Any, Literal

from .effects import tagged
from .kind import Machine, StoreKind, Viewer, text
from .serving import perform


class TestFailure(AssertionError):
    """The store has done something that the test does not expect."""

    __test__ = False


@dataclasses.dataclass
class _Task:
    """A wait or work. `deadline` is None for work that does not end by itself."""

    effect: dict[str, Any]
    deadline: int | None
    attempt: int = 0
    timeout: int | None = None

    def next(self, now: int) -> int | None:
        """Returns the time at which the clock ends the wait, the wait for an attempt, or the work."""
        # Work that waits for its queue has a deadline that has passed.
        waits = self.deadline is not None and (self.attempt == 0 or self.deadline > now)
        return min(
            (time for time in (self.deadline if waits else None, self.timeout) if time is not None),
            default=None,
        )


class TestStore:
    """A store of a kind.

    `send` sends an input; immediate actions are part of it. All later actions and all events must be received
    in their order, before the next `send`. `state` and `view` are those after the last step that was sent or
    received. Work is called immediately, in the thread of the test; pass other `runs` to replace it.
    """

    __test__ = False

    def __init__(
        self, kind: StoreKind | None = None, *, configuration: Any = None, viewer: Viewer | None = None,
        restoring: Any = None, restored_version: int | None = None, now: int = 0, **members: Any,
    ) -> None:  # fmt: skip
        self._kind = dataclasses.replace(kind, **members) if kind else StoreKind(**members)
        self.now = now
        self._configuration = {} if configuration is None else configuration
        self._tasks: list[_Task] = []
        self._actions: collections.deque[Any] = collections.deque()
        self._steps: collections.deque[tuple[str, Any, Any, Any]] = collections.deque()
        self._faults: dict[str, list[str]] = collections.defaultdict(list)
        self._throttled: dict[str, int] = {}
        self._events: list[Any] = []
        self._machine = Machine(self._kind, "test", self._configuration)
        if restoring is None:
            update = self._machine.open(viewer or Viewer(), now)
        else:
            update = self._machine.restore(restored_version or self._kind.version, restoring, now)
        self._begin(update)
        self._show(self._folded())
        self._work()

    def send(self, input: Any, viewer: Viewer | None = None) -> None:
        """Sends an input.

        - Raises: `Refusal` if the store refuses the input, `TestFailure` if something was not received.
        """
        self._check_received("before the next input")
        value = json.loads(text(tagged(input)))
        self._update(self._machine.input, value, viewer or Viewer(), self.now)
        self._show(self._folded())
        self._work()

    def present(self, viewers: list[Viewer]) -> None:
        """The viewers who have subscribed are now these."""
        self._check_received("before the viewers change")
        self._update(self._machine.viewers, viewers, self.now)
        self._show(self._folded())
        self._work()

    def receive(self, action: Any) -> None:
        """Takes the next action that has come later."""
        self._receive("action", action)

    def receive_event(self, event: Any) -> None:
        """Takes the next event."""
        self._receive("event", event)

    def advance(self, milliseconds: int) -> None:
        """Moves the clock. Waits end in the order of their deadlines."""
        end = self.now + milliseconds
        while due := [
            (time, task) for task in self._tasks if (time := task.next(self.now)) is not None and time <= end
        ]:
            self.now, task = min(due, key=lambda pair: pair[0])
            self._end(task)
            self._work()
        self.now = end

    def inject(self, name: str, fault: Literal["fail", "hang"], times: int = 1) -> None:
        """Makes the next calls of work fail or not end."""
        self._faults[name] += [fault] * times

    def restart(self, after: int = 0) -> None:
        """Ends the program, and restores the store from its state after some milliseconds."""
        self._check_received("before a restart")
        self.now += after
        state = json.loads(text(self._machine.state))
        self._machine = Machine(self._kind, "test", self._configuration)
        self._begin(self._machine.restore(self._kind.version, state, self.now))
        for task in [task for task in self._tasks if task.attempt]:
            self._tasks.remove(task)
            if task.effect.get("restart") == "again":
                self._start(task.effect)
            else:
                self._fail(task.effect, "interrupted", "the program was restarted")
        self._show(self._folded())
        self._work()

    def finish(self) -> None:
        """Checks that everything was received and that no effect is left, except `every`."""
        self._check_received("at the end of the test")
        left = [task.effect for task in self._tasks if task.effect["type"] != "every"]
        if left:
            raise TestFailure(f"effects have not ended: {text(left)}")

    def __enter__(self) -> TestStore:
        return self

    def __exit__(self, kind: Any, *_: object) -> None:
        if kind is None:
            self.finish()

    def _receive(self, kind: str, expected: Any) -> None:
        wanted = json.loads(text(tagged(expected)))
        if not self._steps:
            raise TestFailure(f"the {kind} {text(wanted)} is expected, and nothing has come")
        came, value, self.state, self.view = self._steps.popleft()
        if (came, value) != (kind, wanted):
            raise TestFailure(f"the {kind} {text(wanted)} is expected, and the {came} {text(value)} has come")

    def _check_received(self, when: str) -> None:
        if self._steps:
            raise TestFailure(f"the {self._steps[0][0]} {text(self._steps[0][1])} was not received {when}")

    def _update(self, step: Callable[..., str], *arguments: Any) -> None:
        before = self._machine.state
        was = text(before)
        result = step(*arguments)
        if text(before) != was:
            raise TestFailure("update has changed the state that it got; return a new one")
        self._begin(result)

    def _begin(self, result: str) -> None:
        update = json.loads(result)
        self._events += [event["event"] for event in update.get("events", [])]
        self._shown = (self._machine.state, self._machine.view)
        for effect in update.get("effects", []):
            self._perform(effect)

    def _folded(self) -> list[Any]:
        """Folds the immediate actions; returns the events of the step."""
        while self._actions:
            value, error = self._actions.popleft()
            self._update(self._machine.action, value, error, self.now)
        events, self._events = self._events, []
        return events

    def _show(self, events: list[Any]) -> None:
        self.state, self.view = self._shown
        self._steps.extend(("event", event, *self._shown) for event in events)

    def _later(self, value: Any, error: Any = None) -> None:
        """Folds an action that has come later; the test must receive it."""
        self._actions.append((value, error))
        events = self._folded()
        self._steps.append(("action", value, *self._shown))
        self._steps.extend(("event", event, *self._shown) for event in events)

    def _perform(self, effect: dict[str, Any]) -> None:
        kind, name = effect["type"], effect.get("id")
        mine = [task for task in self._tasks if name is not None and task.effect.get("id") == name]
        if kind == "cancel":
            self._tasks = [task for task in self._tasks if task not in mine]
        elif kind == "action":
            is_failing = self._faults[effect.get("name", "")] and self._faults[effect["name"]].pop(0)
            error = {"reason": "fault", "message": "injected"} if is_failing else None
            if not is_failing or "failed" in effect:
                self._actions.append((effect["failed" if is_failing else "action"], error))
        elif kind == "after" or (
            kind == "every" and not any(task.effect["type"] == "every" for task in mine)
        ):
            self._tasks.append(_Task(effect, self.now + effect["milliseconds"]))
        elif kind == "run":
            waiting = [task for task in mine if task.effect["type"] == "run" and not task.attempt]
            if "debounce" in effect or "throttle" in effect:
                self._tasks = [task for task in self._tasks if task not in waiting]
            if "debounce" in effect:
                self._tasks.append(_Task(effect, self.now + effect["debounce"]))
            elif "throttle" in effect and self._throttled.get(name or "", self.now) > self.now:
                self._tasks.append(_Task(effect, self._throttled[name or ""]))
            else:
                self._start(effect)

    def _start(self, effect: dict[str, Any]) -> None:
        """Begins work now, or after the earlier work of its queue."""
        if "throttle" in effect:
            self._throttled[effect["id"]] = self.now + effect["throttle"]
        if effect.get("latest"):
            self._tasks = [
                task
                for task in self._tasks
                if not (task.attempt and task.effect.get("id") == effect.get("id"))
            ]
        timeout = self.now + effect["timeout"] if "timeout" in effect else None
        self._tasks.append(_Task(effect, self.now, attempt=1, timeout=timeout))

    def _work(self) -> None:
        """Calls all work that can begin."""
        while task := next((task for task in self._tasks if task.attempt and self._is_ready(task)), None):
            self._attempt(task)

    def _is_ready(self, task: _Task) -> bool:
        queue = task.effect.get("serial")
        first = next(
            other
            for other in self._tasks
            if other is task or (other.attempt and other.effect.get("serial") == queue)
        )
        return task.deadline is not None and task.deadline <= self.now and (queue is None or first is task)

    def _attempt(self, task: _Task) -> None:
        effect, name = task.effect, task.effect["name"]
        fault = self._faults[name].pop(0) if self._faults[name] else None
        if fault == "hang":
            task.deadline = None
            return
        try:
            if fault:
                raise RuntimeError("injected")
            action = perform(self._kind, name, effect.get("arguments"), _TestWork(self, name, task.attempt))
        except Exception as error:
            retry = effect.get("retry", {"attempts": 1, "milliseconds": 0})
            if task.attempt < retry["attempts"]:
                task.deadline = self.now + retry["milliseconds"] * 2 ** (task.attempt - 1)
                task.attempt += 1
            else:
                self._tasks.remove(task)
                self._fail(effect, "fault" if fault else "error", str(error), later=True)
            return
        self._tasks.remove(task)
        if action is not None:
            self._later(json.loads(text(tagged(action))))

    def _end(self, task: _Task) -> None:
        """Ends a wait at its deadline."""
        effect = task.effect
        if task.attempt:
            if task.timeout is not None and task.timeout <= self.now:
                self._tasks.remove(task)
                self._fail(effect, "timeout", "the time has passed", later=True)
        elif effect["type"] == "every":
            task.deadline = self.now + effect["milliseconds"]
            self._later(effect["action"])
        else:
            self._tasks.remove(task)
            if effect["type"] == "run":
                self._start(effect)
            else:
                self._later(effect["action"])

    def _fail(self, effect: dict[str, Any], reason: str, message: str, later: bool = False) -> None:
        if "failed" in effect:
            error = {"reason": reason, "message": message}
            self._later(effect["failed"], error) if later else self._actions.append((effect["failed"], error))


class _TestWork:
    """The context of work in a test."""

    is_cancelled = False

    def __init__(self, store: TestStore, name: str, attempt: int) -> None:
        self._store, self.name, self.attempt = store, name, attempt

    def wait(self, seconds: float | None = None) -> bool:
        return False

    def send(self, action: Any) -> None:
        self._store._later(json.loads(text(tagged(action))))

# SPDX-License-Identifier: Apache-2.0
"""A store for tests: it carries out effects as the server does, with a clock that the test moves."""

from __future__ import annotations

import collections
import dataclasses
import json
from typing import Any, Literal

from .effects import tagged, text
from .kind import Machine, StoreKind, Viewer
from .serving import Work, perform

_NEVER = 1 << 62


class TestFailure(AssertionError):
    """The store has done something that the test does not expect."""

    __test__ = False


@dataclasses.dataclass
class _Task:
    """A wait, or work, whose `attempt` is not 0. Work without a deadline does not end by itself."""

    effect: dict[str, Any]
    deadline: int
    attempt: int = 0
    timeout: int = _NEVER

    def next(self, now: int) -> int:
        """Returns the time at which the clock ends the wait, the wait for an attempt, or the work."""
        # Work that waits for its queue has a deadline that has passed.
        waits = not self.attempt or self.deadline > now
        return min(self.deadline if waits else _NEVER, self.timeout)


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
        self._opening = {"name": "test", "configuration": {} if configuration is None else configuration}
        self._machine = Machine(self._kind)
        self._tasks: list[_Task] = []
        self._actions: collections.deque[Any] = collections.deque()
        self._steps: collections.deque[tuple[str, Any, Any, Any]] = collections.deque()
        self._faults: dict[str, list[str]] = collections.defaultdict(list)
        self._throttled: dict[str, int] = {}
        if restoring is None:
            self._step("open", self._opening, viewer=vars(viewer or Viewer()))
        else:
            version = restored_version or self._kind.version
            self._step("restore", self._opening, version=version, state=restoring)
        self._work()

    def send(self, input: Any, viewer: Viewer | None = None) -> None:
        """Sends an input.

        - Raises: `Refusal` if the store refuses the input, `TestFailure` if something was not received.
        """
        self._check_received("before the next input")
        self._step("input", input=json.loads(text(tagged(input))), viewer=vars(viewer or Viewer()))
        self._work()

    def present(self, viewers: list[Viewer]) -> None:
        """The viewers who have subscribed are now these."""
        self._check_received("before the viewers change")
        self._step("viewers", viewers=[vars(viewer) for viewer in viewers])
        self._work()

    def receive(self, action: Any) -> None:
        """Takes the next action that has come later."""
        self._take("action", action)

    def receive_event(self, event: Any) -> None:
        """Takes the next event."""
        self._take("event", event)

    def advance(self, milliseconds: int) -> None:
        """Moves the clock. Waits end in the order of their deadlines."""
        end = self.now + milliseconds
        while times := [time for task in self._tasks if (time := task.next(self.now)) <= end]:
            task = next(task for task in self._tasks if task.next(self.now) == min(times))
            self.now = min(times)
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
        for task in [task for task in self._tasks if task.attempt]:
            self._tasks.remove(task)
            if task.effect.get("restart") == "again":
                self._start(task.effect)
            else:
                self._fail(task.effect, "interrupted", "the program was restarted")
        state = json.loads(text(self._machine.state))
        self._machine = Machine(self._kind)
        self._step("restore", self._opening, version=self._kind.version, state=state)
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

    def _take(self, kind: str, expected: Any) -> None:
        wanted = json.loads(text(tagged(expected)))
        if not self._steps:
            raise TestFailure(f"the {kind} {text(wanted)} is expected, and nothing has come")
        came, value, self.state, self.view = self._steps.popleft()
        if (came, value) != (kind, wanted):
            raise TestFailure(f"the {kind} {text(wanted)} is expected, and the {came} {text(value)} has come")

    def _check_received(self, when: str) -> None:
        if self._steps:
            raise TestFailure(f"the {self._steps[0][0]} {text(self._steps[0][1])} was not received {when}")

    def _step(
        self, method: str, opening: Any = None, came: list[tuple[str, Any]] | None = None, **params: Any
    ) -> None:
        """Carries out a request and the immediate actions after it.

        The test must receive an action that `came` later, and all events.
        """
        steps = list(came or [])
        self._actions.appendleft((method, params | (opening or {})))
        while self._actions:
            steps += [("event", event["event"]) for event in self._turn(*self._actions.popleft())]
        self._steps += [(*step, self._machine.state, self._machine.view) for step in steps]
        if not came:
            self.state, self.view = self._machine.state, self._machine.view

    def _turn(self, method: str, params: dict[str, Any]) -> list[Any]:
        """Carries out a request and begins its effects; returns its events."""
        before = self._machine.state
        was = text(before)
        update = json.loads(self._machine.turn(method, {**params, "now": self.now}))
        if text(before) != was:
            raise TestFailure("update has changed the state that it got; return a new one")
        for effect in update.get("effects", []):
            self._perform(effect)
        return list(update.get("events", []))

    def _later(self, action: Any, error: Any = None) -> None:
        """Carries out an action that has come later."""
        self._step("action", came=[("action", action)], action=action, error=error)

    def _perform(self, effect: dict[str, Any]) -> None:
        kind, name = effect["type"], effect.get("id")
        mine = [task for task in self._tasks if name is not None and task.effect.get("id") == name]
        if kind == "cancel":
            self._remove(mine)
        elif kind == "action" and (faults := self._faults[effect.get("name", "")]):
            faults.pop(0)
            self._fail(effect, "fault", "injected")
        elif kind == "action":
            self._actions.append(("action", {"action": effect["action"]}))
        elif kind == "run":
            # It replaces the one that waits.
            if "debounce" in effect or "throttle" in effect:
                self._remove([task for task in mine if task.effect["type"] == "run" and not task.attempt])
            begin = self._throttled.get(name or "", 0) if "throttle" in effect else 0
            begin = self.now + effect["debounce"] if "debounce" in effect else begin
            if begin > self.now:
                self._tasks.append(_Task(effect, begin))
            else:
                self._start(effect)
        elif kind == "after" or not any(task.effect["type"] == "every" for task in mine):
            self._tasks.append(_Task(effect, self.now + effect["milliseconds"]))

    def _start(self, effect: dict[str, Any]) -> None:
        """Begins work now, or after the earlier work of its queue."""
        if "throttle" in effect:
            self._throttled[effect["id"]] = self.now + effect["throttle"]
        if effect.get("latest"):
            self._remove([x for x in self._tasks if x.attempt and x.effect.get("id") == effect.get("id")])
        self._tasks.append(_Task(effect, self.now, 1, self.now + effect.get("timeout", _NEVER)))

    def _work(self) -> None:
        """Calls all work that can begin; of a queue the first one."""
        while task := next((task for task in self._tasks if self._is_ready(task)), None):
            self._attempt(task)

    def _is_ready(self, task: _Task) -> bool:
        queue = task.effect.get("serial")
        works = [other for other in self._tasks if other.attempt and other.effect.get("serial") == queue]
        return task.attempt > 0 and task.deadline <= self.now and (queue is None or works[0] is task)

    def _attempt(self, task: _Task) -> None:
        effect, name = task.effect, task.effect["name"]
        fault = self._faults[name].pop(0) if self._faults[name] else None
        if fault == "hang":
            task.deadline = _NEVER
            return
        work = _TestWork(name, task.attempt, lambda action: self._later(json.loads(text(action))))
        try:
            if fault:
                raise RuntimeError("injected")
            action = perform(self._kind, name, effect.get("arguments"), work)
        except Exception as error:
            retry = effect.get("retry", {"attempts": 1, "milliseconds": 0})
            if task.attempt < retry["attempts"]:
                task.deadline = self.now + retry["milliseconds"] * 2 ** (task.attempt - 1)
                task.attempt += 1
                return
            self._tasks.remove(task)
            self._fail(effect, "fault" if fault else "error", str(error), is_later=True)
        else:
            self._tasks.remove(task)
            if action is not None:
                self._later(json.loads(text(tagged(action))))

    def _end(self, task: _Task) -> None:
        """Ends a wait at its deadline, or work at its timeout."""
        effect = task.effect
        if task.attempt and task.timeout > self.now:
            return  # The next attempt can begin.
        self._tasks.remove(task)
        if task.attempt:
            self._fail(effect, "timeout", "the time has passed", is_later=True)
        elif effect["type"] == "run":
            self._start(effect)
        else:
            if effect["type"] == "every":
                self._tasks.append(_Task(effect, self.now + effect["milliseconds"]))
            self._later(effect["action"])

    def _fail(self, effect: dict[str, Any], reason: str, message: str, is_later: bool = False) -> None:
        """Sends the action of a failure: as a part of this step, or later."""
        error = {"reason": reason, "message": message}
        if "failed" in effect and is_later:
            self._later(effect["failed"], error)
        elif "failed" in effect:
            self._actions.append(("action", {"action": effect["failed"], "error": error}))

    def _remove(self, tasks: list[_Task]) -> None:
        self._tasks = [task for task in self._tasks if not any(task is other for other in tasks)]


class _TestWork(Work):
    """The context of work in a test, which does not wait."""

    def wait(self, seconds: float | None = None) -> bool:
        return False

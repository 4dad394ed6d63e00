# SPDX-License-Identifier: Apache-2.0
"""A store for tests: it carries out effects as the server does, with a clock that the test moves."""

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


@dataclasses.dataclass(eq=False)
class _Task:
    """A wait until `due`, or work with an `attempt`, which is called when `due` and fails at `limit`."""

    effect: dict[str, Any]
    due: int
    attempt: int = 0
    limit: int = _NEVER


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
        # The time, and the one to which the test has moved the clock: received steps lie between them.
        self.now = self._end = now
        self._configuration = {} if configuration is None else configuration
        self._tasks: list[_Task] = []
        # The actions of this step, and the later actions and events that the test must receive.
        self._actions: list[dict[str, Any]] = []
        self._came: list[dict[str, Any]] = []
        self._faults: dict[str, list[str]] = collections.defaultdict(list)
        self._throttled: dict[str, int] = {}
        version = restored_version or self._kind.version
        method = "open" if restoring is None else "restore"
        self._open(method, viewer=vars(viewer or Viewer()), version=version, state=restoring)

    def send(self, input: Any, viewer: Viewer | None = None) -> None:
        """Sends an input.

        - Raises: `Refusal` if the store refuses the input, `TestFailure` if something was not received.
        """
        self._check_received()
        self._step("input", input=_json(input), viewer=vars(viewer or Viewer()))

    def view_for(self, viewer: Viewer) -> Any:
        """Returns what a subscribed viewer receives of the state."""
        return self._machine.view_for(viewer)

    def present(self, viewers: list[Viewer]) -> None:
        """Sets the subscribed viewers."""
        self._check_received()
        self._step("viewers", viewers=[vars(viewer) for viewer in viewers])

    def receive(self, action: Any) -> None:
        """Takes the next action that has come later."""
        self._step("action", **self._take("action", action))

    def receive_event(self, event: Any) -> None:
        """Takes the next event."""
        self._take("event", event)
        self._proceed()

    def advance(self, milliseconds: int) -> None:
        """Moves the clock. Waits end in the order of their deadlines."""
        self._end += milliseconds
        self._proceed()

    def inject(self, name: str, fault: Literal["fail", "hang"], times: int = 1) -> None:
        """Makes the next calls of work fail or not end."""
        self._faults[name] += [fault] * times

    def restart(self, after: int = 0) -> None:
        """Ends the program, and restores the store from its state after some milliseconds."""
        self._check_received()
        self.now = self._end = self.now + after
        for task in [task for task in self._tasks if task.attempt]:
            self._tasks.remove(task)
            if task.effect.get("restart") == "again":
                self._start(task.effect)
            else:
                self._actions += _failed(task.effect, "interrupted", "the program was restarted")
        self._open("restore", version=self._kind.version, state=json.loads(text(self.state)))

    def finish(self) -> None:
        """Checks that everything was received and that no effect is left, except `every`."""
        self._check_received()
        if left := [task.effect for task in self._tasks if task.effect["type"] != "every"]:
            raise TestFailure(f"effects have not ended: {text(left)}")

    def __enter__(self) -> "TestStore":
        return self

    def __exit__(self, kind: Any, *_: object) -> None:
        if kind is None:
            self.finish()

    def _take(self, kind: str, expected: Any) -> dict[str, Any]:
        wanted = _json(expected)
        came = self._came.pop(0) if self._came else {}
        if kind not in came or came[kind] != wanted:
            found = text(came) if came else "nothing"
            raise TestFailure(f"expected the {kind} {text(wanted)}, received {found}")
        return came

    def _check_received(self) -> None:
        if self._came:
            kind, value = next(iter(self._came[0].items()))
            raise TestFailure(f"the {kind} {text(value)} was not received")

    def _open(self, method: str, **params: Any) -> None:
        self._machine = Machine(self._kind, "test", self._configuration)
        self._step(method, **params)

    def _step(self, method: str, **params: Any) -> None:
        """Carries out a request and the immediate actions after it; then the clock moves on."""
        self._turn(method, params)
        while self._actions:
            self._turn("action", self._actions.pop(0))
        self.state, self.view = self._machine.state, self._machine.view
        self._proceed()

    def _turn(self, method: str, params: dict[str, Any]) -> None:
        before = self._machine.state
        was = text(before)
        update = json.loads(self._machine.turn(method, {**params, "now": self.now}))
        if text(before) != was:
            raise TestFailure("update has changed the state that it got; return a new one")
        self._came += [{"event": event["event"]} for event in update.get("events", [])]
        for effect in update.get("effects", []):
            self._perform(effect)

    def _perform(self, effect: dict[str, Any]) -> None:
        kind, same = effect["type"], self._named(effect.get("id"))
        if kind == "cancel":
            self._remove(same)
        elif kind == "action":
            fault = self._fault(effect.get("name"))
            self._actions += _failed(effect, "fault", "injected") if fault else [{"action": effect["action"]}]
        elif kind == "run":
            begin = self._throttled.get(effect["id"], 0) if "throttle" in effect else 0
            begin = self.now + effect["debounce"] if "debounce" in effect else begin
            if "debounce" in effect or "throttle" in effect:
                # It replaces the one that waits.
                self._remove([task for task in same if task.effect["type"] == "run" and not task.attempt])
            if begin > self.now:
                self._tasks.append(_Task(effect, begin))
            else:
                self._start(effect)
        elif kind == "after" or not any(task.effect["type"] == "every" for task in same):
            self._tasks.append(_Task(effect, self.now + effect["milliseconds"]))

    def _start(self, effect: dict[str, Any]) -> None:
        """Begins work now, or after the earlier work of its queue."""
        if "throttle" in effect:
            self._throttled[effect["id"]] = self.now + effect["throttle"]
        if effect.get("latest"):
            self._remove([task for task in self._named(effect["id"]) if task.attempt])
        self._tasks.append(_Task(effect, 0, attempt=1, limit=self.now + effect.get("timeout", _NEVER)))

    def _proceed(self) -> None:
        """Moves the clock to its end, but not beyond a step that the test must receive."""
        while not self._came:
            task = min(self._tasks, key=self._time, default=None)
            if task is None or self._time(task) > self._end:
                self.now = self._end
                return
            self.now = max(self.now, self._time(task))
            self._continue(task)

    def _time(self, task: _Task) -> int:
        queue = task.effect.get("serial")
        works = [other for other in self._tasks if other.attempt and other.effect.get("serial") == queue]
        is_queued = task.attempt > 0 and queue is not None and works[0] is not task
        return task.limit if is_queued else min(task.due, task.limit)

    def _continue(self, task: _Task) -> None:
        """Ends a wait, or calls or ends work."""
        effect = task.effect
        if task.attempt and self.now < task.limit:
            self._call(task)
            return
        self._tasks.remove(task)
        if task.attempt:
            self._came += _failed(effect, "timeout", "the time has passed")
        elif effect["type"] == "run":
            self._start(effect)
        else:
            self._came.append({"action": effect["action"]})
        if effect["type"] == "every":
            self._perform(effect)

    def _call(self, task: _Task) -> None:
        effect, name = task.effect, task.effect["name"]
        fault, retry = self._fault(name), effect.get("retry", {"attempts": 1})
        if fault == "hang":
            task.due = _NEVER
            return
        try:
            if fault:
                raise RuntimeError("injected")
            work = Work(name, task.attempt, self._send, waits=False)
            action = perform(self._kind, work, effect.get("arguments"))
            if action is not None:
                self._send(action)
        except Exception as error:
            if task.attempt < retry["attempts"]:
                task.due = self.now + retry["milliseconds"] * 2 ** (task.attempt - 1)
                task.attempt += 1
                return
            self._came += _failed(effect, "fault" if fault else "error", str(error))
        self._tasks.remove(task)

    def _send(self, action: Any) -> None:
        self._came.append({"action": _json(action)})

    def _fault(self, name: Any) -> str | None:
        return self._faults[name].pop(0) if self._faults[name] else None

    def _named(self, name: str | None) -> list[_Task]:
        return [task for task in self._tasks if name is not None and task.effect.get("id") == name]

    def _remove(self, tasks: list[_Task]) -> None:
        self._tasks = [task for task in self._tasks if task not in tasks]


def _failed(effect: dict[str, Any], reason: str, message: str) -> list[dict[str, Any]]:
    """Returns the action of a failure, if there is one."""
    error = {"reason": reason, "message": message}
    return [{"action": effect["failed"], "error": error}] if "failed" in effect else []


def _json(value: Any) -> Any:
    """Returns an input, action or event as the other side receives it."""
    return json.loads(text(tagged(value)))

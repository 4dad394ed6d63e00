# SPDX-License-Identifier: Apache-2.0
"""A store for tests: it carries out effects as the server does, with a clock that the test moves."""

import contextlib
import copy
import dataclasses
import json
from typing import Any, Literal

from .difference import difference
from .effects import plain, tagged, text
from .kind import Machine, StoreKind, Viewer
from .serving import Work, perform

_NEVER = 1 << 62


class TestFailure(AssertionError):
    """The store has done something that the test does not expect."""

    __test__ = False


@dataclasses.dataclass(eq=False)
class _Task:
    """A wait until `due`, or work with an `attempt`, which is called when `due` and fails at `limit`.

    Work that is never `due` is at the program. Injected faults do not count as `calls`.
    """

    effect: dict[str, Any]
    due: int
    attempt: int = 0
    calls: int = 0
    limit: int = _NEVER  # It is set when the work begins.


class TestStore(contextlib.AbstractContextManager["TestStore"]):
    """A store of a kind.

    `send` sends an input; immediate actions are part of it. All later actions and all events must be received
    in their order, before the next `send`. `state` and `view` are those after the last step that was sent or
    received. A step that raises changes nothing. Work is called immediately, in the thread of the test; pass
    other `runs` to replace it.
    """

    __test__ = False

    def __init__(self, kind: StoreKind | None = None, *, configuration: Any = None,
                 viewer: Viewer | None = None, restoring: Any = None, restored_version: int | None = None,
                 now: int = 0, **members: Any) -> None:  # fmt: skip
        self._kind = dataclasses.replace(kind, **members) if kind else StoreKind(**members)
        # The time, and the one to which the test has moved the clock: received steps lie between them.
        self.now = self._end = now
        self._tasks, self._faults, self._throttled = list[_Task](), dict[str, list[Any]](), dict[Any, int]()
        # The later actions and events that the test must receive, and the requests with the viewers after a
        # restart: one, or none before the first `present`.
        self._came, self._presented = list[dict[str, Any]](), list[dict[str, Any]]()
        self._machine = Machine(self._kind, "test", configuration or {})
        method, version = "open" if restoring is None else "restore", restored_version or self._kind.version
        self._step([{method: True, "viewer": viewer or Viewer(), "version": version, "state": restoring}])

    def send(self, input: Any, viewer: Viewer | None = None) -> None:
        """Sends an input.

        - Raises: `Refusal` if the store refuses the input, `TestFailure` if something was not received.
        """
        self._check_received()
        self._step([{"input": tagged(input), "viewer": viewer or Viewer()}])

    def view_for(self, viewer: Viewer) -> Any:
        """Returns what a subscribed viewer receives of the state."""
        return self._machine.view_of(self._machine.state, viewer)

    def present(self, viewers: list[Viewer]) -> None:
        """Sets the subscribed viewers."""
        self._check_received()
        self._presented = [{"viewers": viewers}]
        self._step([*self._presented])

    def receive(self, action: Any) -> None:
        """Takes the next action that has come later."""
        self._take("action", action)

    def receive_event(self, event: Any) -> None:
        """Takes the next event."""
        self._take("event", event)

    def advance(self, milliseconds: int) -> None:
        """Moves the clock. Waits end in the order of their deadlines."""
        self._end += milliseconds
        self._proceed()

    def inject(self, name: str, fault: Literal["fail", "hang"], times: int = 1) -> None:
        """Makes the next calls of work, or the next actions with a name, fail or not end."""
        self._faults.setdefault(name, []).extend([fault] * times)

    def restart(self, after: int = 0) -> None:
        """Ends the program, and restores the store from its state after some milliseconds."""
        self._check_received()
        requests = [*self._presented]
        for task in [task for task in self._tasks if task.effect["type"] == "run" and task.due == _NEVER]:
            task.due = 0
            if task.effect.get("restart") != "again":
                requests += self._missed(task, reason="interrupted", message="the program was restarted")
        self.now = self._end = self.now + after
        self._step([{"restore": True, "version": self._kind.version, "state": self.state}, *requests])

    def finish(self) -> None:
        """Checks that everything was received and that no effect is left, except `every`."""
        self._check_received()
        if left := [task.effect for task in self._tasks if task.effect["type"] != "every"]:
            raise TestFailure(f"effects have not ended: {text(left)}")

    def __exit__(self, kind: Any, *_: object) -> None:
        if kind is None:
            self.finish()

    def _take(self, kind: str, expected: Any) -> None:
        form, got = plain(tagged(expected)), self._came.pop(0) if self._came else {}
        if kind not in got or difference(got[kind], form):
            raise TestFailure(f"expected the {kind} {text(form)}, received {text(got) if got else 'nothing'}")
        self._step([got] if kind == "action" else [])

    def _check_received(self) -> None:
        if self._came:
            raise TestFailure(f"the {next(iter(self._came[0]))} {text(self._came[0])} was not received")

    def _step(self, requests: list[dict[str, Any]]) -> None:
        """Carries out requests and the immediate actions after them; then the clock moves on.

        The first member of a request has the name of its method. If one of them fails, nothing has changed,
        as in a program that is served; only injected faults are used up.
        """
        trial = copy.copy(self)
        vars(trial).update({name: copy.copy(value) for name, value in vars(self).items()})
        # The list grows: the actions of an update come after all earlier ones.
        for request in requests:
            before, was = trial._machine.state, text(trial._machine.state)
            update = json.loads(trial._machine.turn(next(iter(request)), plain({**request, "now": self.now})))
            if text(before) != was:
                raise TestFailure("update has changed the state that it got; return a new one")
            trial._came += update.get("events", [])
            for effect in update.get("effects", []):
                trial._perform(effect, requests)
        vars(self).update(vars(trial))
        self.state, self.view = self._machine.state, self.view_for(Viewer())
        self._proceed()

    def _perform(self, effect: dict[str, Any], requests: list[dict[str, Any]]) -> None:
        """Begins an effect or its wait; an immediate action is one of the next requests."""
        kind, id = effect["type"], effect.get("id")
        if kind == "cancel":
            self._cancel(id)
            self._throttled.pop(id, None)
        elif kind != "every" or id not in [t.effect["id"] for t in self._tasks if t.effect["type"] == kind]:
            wait = effect.get("milliseconds", effect.get("debounce", 0))
            due = self._throttled.get(id, 0) if "throttle" in effect else self.now + wait
            # It replaces the one that waits because of the same policy.
            self._cancel(id, lambda t: not t.attempt and {"debounce", "throttle"} & {*effect} & {*t.effect})
            self._tasks.append(task := _Task(effect, due))
            if kind in ("action", "run") and due <= self.now:
                requests += self._begin(task)

    def _begin(self, task: _Task) -> list[dict[str, Any]]:
        """Begins an effect after its wait; returns its action. Work is called later, in its queue."""
        effect, task.due, task.attempt = task.effect, 0, 1
        if "throttle" in effect:
            self._throttled[effect["id"]] = self.now + effect["throttle"]
        if effect.get("latest"):
            # Work that a policy holds back has not begun.
            self._cancel(effect["id"], lambda each: each.attempt or "action" in each.effect)
        self._tasks = [*(each for each in self._tasks if each is not task), task]
        return [] if effect["type"] == "run" else self._call(task)

    def _proceed(self) -> None:
        """Moves the clock to its end, but not beyond a step that the test must receive."""
        while not self._came and (tasks := [task for task in self._tasks if self._time(task) <= self._end]):
            task = min(tasks, key=self._time)
            self.now = max(self.now, self._time(task))
            self._came += self._call(task) if task.attempt else self._begin(task)
        self.now = self.now if self._came else self._end

    def _time(self, task: _Task) -> int:
        # Work without a queue is in a queue of its own.
        queue = task.effect.get("serial", task)
        works = [each for each in self._tasks if each.attempt and each.effect.get("serial", each) == queue]
        return task.limit if task in works[1:] else min(task.due, task.limit)

    def _call(self, task: _Task) -> list[dict[str, Any]]:
        """Calls work, or ends it at its limit; returns the action of it, or of another effect."""
        effect, name, arguments = task.effect, task.effect.get("name", ""), task.effect.get("arguments")
        task.due, task.limit = _NEVER, min(task.limit, self.now + effect.get("timeout", _NEVER))
        if task.limit <= self.now:
            return self._missed(task, reason="timeout", message="the time has passed")
        if fault := (self._faults.get(name) or [None]).pop(0):
            return [] if fault == "hang" else self._missed(task, reason="fault", message="injected")
        task.calls += 1
        work = Work(name, task.calls, lambda sent: self._came.append({"action": plain(tagged(sent))}), False)
        try:
            came = effect if "action" in effect else json.loads(perform(self._kind, work, arguments))
        except Exception as error:
            return self._missed(task, reason="error", message=str(error))
        self._tasks.remove(task)
        if effect["type"] == "every":
            self._perform(effect, [])
        return [{"action": came["action"]}] if "action" in came else []

    def _missed(self, task: _Task, **error: str) -> list[dict[str, Any]]:
        """Waits for the next attempt, or ends the effect; returns the action of the failure then."""
        retry = task.effect.get("retry", {"attempts": 1})
        if task.attempt < retry["attempts"] and self.now < task.limit:
            wait = min(retry["milliseconds"] * 2 ** (task.attempt - 1), 86_400_000)
            task.due, task.attempt = self.now + wait, task.attempt + 1
            return []
        self._tasks.remove(task)
        return [{"action": task.effect["failed"], "error": error}] if "failed" in task.effect else []

    def _cancel(self, id: str | None, fits: Any = lambda task: True) -> None:
        """Cancels the effects with an id that fit."""
        self._tasks = [task for task in self._tasks if task.effect.get("id", 0) != id or not fits(task)]

# SPDX-License-Identifier: Apache-2.0
"""A list in memory that one frontend alone writes: its inputs in their order determine each state.

The inputs are carried out by a model of the kind `todo`. Each input that changes the list leads to the next revision,
so each state that any client has seen must be the one of the model at that revision. A state that is not tells which
guarantee is broken: a title that is there twice (applied twice), one with a response that is missing (lost),
another order of the same inputs (order).

A server may leave revisions out, for example after a damaged journal; the counter `revisions left out` tells how many.
"""

import json

import states
from record import Violation


def has_one_writer(session, store):
    """True for a list in memory with the inputs of exactly one frontend."""
    writers = {entry.frontend for entry in session.inputs(store.name)}
    return "memory" in store.config and len(writers) == 1


class Model:
    """The kind `todo` for a list in memory."""

    def __init__(self, count=0):
        self.todos = [self._todo(str(number), f"Todo {number}") for number in range(1, count + 1)]
        self.last_id = count
        self.is_shown = False

    @staticmethod
    def _todo(id, title):
        return {"id": id, "title": title, "completed": False}

    def state(self):
        return {"type": "content", "todos": self.todos} if self.is_shown else {"type": "loading"}

    def take(self, value):
        """Carries out one input."""
        kind, id = value["type"], value.get("id")
        at = next((at for at, todo in enumerate(self.todos) if todo["id"] == id), None)
        if kind == "stateRequested":
            self.is_shown = True
        elif kind == "todoAdded":
            if id is None:
                self.last_id += 1
                id = str(self.last_id)
            if at is None:
                self.todos = [*self.todos, self._todo(id, value["title"])]
        elif at is None:
            return
        elif kind == "todoRemoved":
            self.todos = self.todos[:at] + self.todos[at + 1:]
        elif kind == "todoMoved":
            self._move(at, value.get("before"))
        else:
            change = {"title": value["title"]} if kind == "todoRenamed" else {"completed": kind == "todoCompleted"}
            self.todos = [{**todo, **change} if todo["id"] == id else todo for todo in self.todos]

    def _move(self, at, before):
        others = self.todos[:at] + self.todos[at + 1:]
        ids = [todo["id"] for todo in others]
        if before is not None and before not in ids:
            return
        to = len(others) if before is None else ids.index(before)
        self.todos = [*others[:to], self.todos[at], *others[to:]]


def check(session, store, counts):
    """Returns the first violation in the states of a store, as a list."""
    return _Replay(session, store, counts).run()


class _Replay:
    def __init__(self, session, store, counts):
        self.store, self.counts = store, counts
        self.inputs = sorted(session.inputs(store.name), key=lambda entry: entry.sequence)
        self.frontend = session.frontends[self.inputs[0].frontend]
        model = Model(store.config["memory"].get("count", 0))
        # The states of the model; the number of the state after each input, by sequence.
        self.versions = [states.compact(model.state())]
        self.version_after = {}
        for entry in self.inputs:
            model.take(entry.value)
            version = states.compact(model.state())
            if version != self.versions[-1]:
                self.versions.append(version)
            self.version_after[entry.sequence] = len(self.versions) - 1

    def run(self):
        promises = sorted(
            ((response.result["revision"], self.version_after[entry.sequence], entry, response.event)
             for entry in self.inputs for response in entry.responses if response.result is not None),
            key=lambda promise: promise[:2], reverse=True)
        # The version of the last state; the lowest possible one; the difference between revisions and versions.
        low, offset, promise, last = 0, 0, None, None
        final = None
        for revision, (state, event) in sorted(self.store.seen.items()):
            self.counts["replayed states"] += 1
            while promises and promises[-1][0] <= revision:
                _, version, entry, response = promises.pop()
                if version > low:
                    low, promise = version, (entry, response)
            version = revision - offset
            if not (low <= version < len(self.versions) and self.versions[version] == state):
                version = self._other_version(state, low, revision - offset)
                if version is None:
                    return [self._violation(state, low, revision - offset, promise, last, event)]
                self.counts["revisions left out"] += revision - offset - version
                offset = revision - version
            low, last = version, event
            if self.store.final is not None and revision == self.store.final[0]:
                final = version
        return self._check_end(final)

    def _other_version(self, state, low, high):
        return next((version for version in range(min(high, len(self.versions) - 1), low - 1, -1)
                     if self.versions[version] == state), None)

    def _check_end(self, version):
        """Compares the final state with all inputs that were accepted."""
        accepted = [entry for entry in self.inputs
                    if entry.is_accepted or entry.sequence <= self.frontend.confirmed]
        if version is None or not accepted:
            return []
        entry = accepted[-1]
        if version < self.version_after[entry.sequence]:
            return [Violation("lost", f"store {self.store.name} ends before input {entry.sequence}, which was accepted",
                              [entry.sent[0], *(response.event for response in entry.responses), self.store.final[2]])]
        return []

    def _violation(self, state, low, expected, promise, last, event):
        name = self.store.name
        proof = [given for given in (last, *_events(promise), event) if given is not None]
        titles, due = _titles(state), _titles(self.versions[low])
        if len(titles) > len(set(titles)):
            return Violation("applied twice", f"a title of store {name} is there twice: {titles}", proof)
        if state in self.versions[:low]:
            return Violation("lost", f"store {name} is in an earlier state than a response promised", proof)
        missing = set(due) - set(titles)
        if isinstance(state, tuple) and promise is not None and missing and not missing & self._titles_after(event):
            return Violation("lost", f"store {name} is without {sorted(missing)}", proof)
        if state in self.versions[low:]:
            return Violation("lost", f"a revision of store {name} has a state of more inputs than revisions", proof)
        return Violation("order", f"the inputs of the only writer of store {name} do not lead to its state {titles} in "
                         "any part of their order", proof)

    def _titles_after(self, event):
        return {title for state, later in self.store.seen.values() if later["at"] > event["at"]
                for title in _titles(state)}


def _titles(state):
    return [json.loads(text)["title"] for text in state[1:]] if isinstance(state, tuple) else []


def _events(promise):
    return [] if promise is None else [promise[0].sent[0], promise[1]]

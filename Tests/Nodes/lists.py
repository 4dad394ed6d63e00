# SPDX-License-Identifier: Apache-2.0
"""The lists that several frontends write: each title is added once, by one input, and never added again.

For each store, over its states in the order of their revisions:

- no title occurs twice, has two ids, or comes back after it was removed (else: applied twice);
- a title whose input had a response is there from the revision of the response on, and disappears only if
  some client has sent its removal (else: lost); a removal that had a response has removed it;
- the titles of one frontend appear in the order of its inputs (lists in memory; else: order);
- a title that was settled before another one was sent stands before it (lists in the database; else: order);
- each title was sent by some client (else: invented).

At the end all sessions show the same list under one name, with each accepted title that no client has removed.
"""

import functools
import json

from record import Violation


def check_store(sessions, session, store, counts):
    """Returns the violations in the states of one store."""
    return _Walk(sessions, session, store, counts).run()


def check_shared(sessions, counts):
    """Returns the violations in the final states of the lists of the database."""
    finals = {}
    for session in sessions:
        for store in session.stores.values():
            if store.list_name is not None and store.final is not None and _is_requested(session, store):
                finals.setdefault(store.list_name, []).append((session, store))
    violations = []
    for name, shown in finals.items():
        first = shown[0][1].final
        for _, store in shown[1:]:
            counts["shared lists compared"] += 1
            if store.final[1] != first[1]:
                violations.append(Violation("lists differ", f"two sessions show list {name} differently at the end",
                                            [first[2], store.final[2]]))
    return violations


def _is_requested(session, store):
    """True if the store must show the list: some client has asked for it."""
    return any(entry.value["type"] == "stateRequested" and entry.is_accepted for entry in session.inputs(store.name))


@functools.lru_cache(maxsize=65536)
def _entry(text):
    todo = json.loads(text)
    return todo["id"], todo["title"]


class _Walk:
    def __init__(self, sessions, session, store, counts):
        self.sessions = {session.handle: session for session in sessions}
        self.session, self.store, self.counts = session, store, counts
        self.is_in_memory = store.list_name is None
        # All that any client has sent to this list, also in other sessions.
        own = session.inputs(store.name)
        self.inputs = own if self.is_in_memory else [
            entry for other in self.sessions.values() for shown in other.stores.values()
            if shown.written_list == store.list_name for entry in other.inputs(shown.name)]
        self.own = own
        self.added = {entry.title: entry for entry in self.inputs if entry.title is not None}
        self.removed = {}
        for entry in self.inputs:
            if entry.value["type"] == "todoRemoved":
                at = self.removed.get(entry.value["id"])
                if at is None or entry.sent[0]["at"] < at.sent[0]["at"]:
                    self.removed[entry.value["id"]] = entry
        # The additions of each frontend in their order, and how many of them have appeared.
        self.adds = {name: [entry for entry in frontend.in_order(store.name) if entry.title is not None]
                     for name, frontend in session.frontends.items()}
        self.places = {entry.title: place for adds in self.adds.values() for place, entry in enumerate(adds)}
        self.reached = dict.fromkeys(self.adds, 0)
        # The id of each title, with the event that showed it first to any client.
        self.ids = self._all_ids()
        # The titles that this store has shown.
        self.shown = set()
        self.gone = {}
        self.violations = []
        self.reported = set()

    def report(self, kind, title, text, *events):
        # One violation for each title: later states only repeat it.
        if (kind, title) not in self.reported:
            self.reported.add((kind, title))
            self.violations.append(Violation(kind, f"{text} (store {self.store.name})",
                                             [event for event in events if event is not None]))

    def _all_ids(self):
        ids = {}
        for session in [self.session] if self.is_in_memory else self.sessions.values():
            for store in session.stores.values():
                if store is self.store or (not self.is_in_memory and store.list_name == self.store.list_name):
                    for state, event in store.seen.values():
                        for id, title in map(_entry, state[1:] if isinstance(state, tuple) else ()):
                            if title not in ids or event["at"] < ids[title][1]["at"]:
                                ids[title] = (id, event)
        return ids

    def run(self):
        due = self._due()
        before, previous = {}, None
        for revision, (state, event) in sorted(self.store.seen.items()):
            if not isinstance(state, tuple):
                self._other_state(state, event)
                continue
            self.counts["list states"] += 1
            entries = [_entry(text) for text in state[1:]]
            titles = {title: id for id, title in entries}
            if len(titles) < len(entries):
                twice = next(title for index, (_, title) in enumerate(entries)
                             if title in {title for _, title in entries[:index]})
                self.report("applied twice", twice, f"title {twice!r} is there twice",
                            self._sent(twice), previous, event)
            new = [(id, title) for id, title in entries if title not in before]
            for id, title in new:
                self._appeared(id, title, previous, event)
            for title in before.keys() - titles.keys():
                self.gone[title] = event
                self._disappeared(title, previous, event)
            self._check_due(due, revision, titles, event)
            if self.is_in_memory:
                self._check_order([title for _, title in new], event)
            elif new:
                self._check_time(entries, event)
            before, previous = titles, event
        self._check_end()
        return self.violations

    def _other_state(self, state, event):
        if json.loads(state).get("type") == "error":
            self.report("lost", "error", "the store shows an error: an accepted input was not carried out", event)

    def _appeared(self, id, title, previous, event):
        entry = self.added.get(title)
        if entry is None or entry.sent[0]["at"] > event["at"]:
            self.report("invented", title, f"no client has sent title {title!r}", event)
        self.shown.add(title)
        known = self.ids[title]
        if known[0] != id:
            self.report("applied twice", title, f"title {title!r} has the ids {known[0]} and {id}",
                        self._sent(title), known[1], event)
        elif title in self.gone:
            self.report("applied twice", title, f"title {title!r} was gone and is there again",
                        self._sent(title), self.gone[title], event)

    def _disappeared(self, title, previous, event):
        removal = self.removed.get(self.ids[title][0])
        if removal is None or removal.sent[0]["at"] > event["at"]:
            self.report("lost", title, f"title {title!r} is gone, and no client had removed it",
                        self._sent(title), previous, event)

    def _due(self):
        """Returns what responses promise: (revision, input, response), the highest revision first."""
        due = [(response.result["revision"], entry.sequence, entry, response.event)
               for entry in self.own for response in entry.responses
               if response.result is not None and (self.is_in_memory or response.settle)]
        due.sort(key=lambda promise: promise[:2], reverse=True)
        return due

    def _check_due(self, due, revision, titles, event):
        while due and due[-1][0] <= revision:
            _, _, entry, response = due.pop()
            if entry.title is not None and entry.title not in titles and entry.title not in self.shown and (
                    entry.title not in self.ids or self.ids[entry.title][0] not in self.removed):
                # No client can remove a title whose id it has not seen.
                self.report("lost", entry.title, f"title {entry.title!r} had a response and is not there",
                            entry.sent[0], response, event)
            elif entry.value["type"] == "todoRemoved":
                kept = [title for title, id in titles.items() if id == entry.value["id"]]
                if kept:
                    self.report("lost", kept[0], f"the removal of {kept[0]!r} had a response, but no effect",
                                entry.sent[0], response, event)

    def _check_order(self, new, event):
        """Checks that new titles are the next ones of their frontends."""
        for title in new:
            entry = self.added.get(title)
            if entry is None:
                continue
            adds = self.adds[entry.frontend]
            place = self.places[title]
            for earlier in adds[self.reached[entry.frontend]:place]:
                self.report("order", earlier.title, f"title {title!r} is there before {earlier.title!r}, which the "
                            "same frontend had sent earlier", earlier.sent[0], entry.sent[0], event)
            self.reached[entry.frontend] = max(self.reached[entry.frontend], place + 1)

    def _check_time(self, entries, event):
        """Checks that no title stands after one that was sent only after it had settled."""
        latest = None
        for _, title in entries:
            entry = self.added.get(title)
            if entry is None:
                continue
            settled = min((response.event["at"] for response in entry.responses
                           if response.result is not None and response.settle), default=None)
            if latest is not None and settled is not None and settled < latest.sent[0]["at"]:
                self.report("order", title, f"title {title!r} had settled before {latest.title!r} was sent, and stands "
                            "after it", entry.sent[0], latest.sent[0], event)
            if latest is None or entry.sent[0]["at"] > latest.sent[0]["at"]:
                latest = entry

    def _check_end(self):
        """Checks that the final state has each accepted title without a removal, and no removed one."""
        if self.store.final is None or not isinstance(self.store.final[1], tuple):
            return
        _, state, event = self.store.final
        titles = {title: id for id, title in map(_entry, state[1:])}
        for title, entry in self.added.items():
            removal = self.removed.get(self.ids[title][0]) if title in self.ids else None
            if removal is None and title not in titles and self._is_accepted(entry):
                self.report("lost", title, f"title {title!r} was accepted and is not there at the end",
                            entry.sent[0], *(response.event for response in entry.responses), event)
            elif removal is not None and titles.get(title) == removal.value["id"] and removal.is_accepted:
                self.report("lost", title, f"the removal of {title!r} had a response, and the title is there "
                            "at the end", removal.sent[0], event)

    def _is_accepted(self, entry):
        """True if the input had a response, or the server has named its sequence or a higher one."""
        frontend = self.sessions[entry.session].frontends[entry.frontend]
        return entry.is_accepted or entry.sequence <= frontend.confirmed

    def _sent(self, title):
        entry = self.added.get(title)
        return entry.sent[0] if entry else None

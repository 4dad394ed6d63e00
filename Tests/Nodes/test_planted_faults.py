# SPDX-License-Identifier: Apache-2.0
"""The checker finds each planted fault, and names its kind."""

import unittest

import checker
from test_support import MINE, SHARED, Histories, kinds


class PlantedFaults(Histories):
    def test_lost_commit(self):
        client = self.alone("x")
        earlier = self.server.copy()
        client.add("mine", "y")
        client.drop()
        client.server = self.story.server = earlier
        client.attach(from_nothing=True)
        self.story.audit(client)
        self.found("forgotten sequence")
        self.found("goes back")
        self.found("lost")

    def test_lost_commit_before_more_inputs(self):
        """The list continues as if one input with a response had not been sent; all counters continue."""
        client = self.alone("x", "y")
        model = self.server.stores["S", "mine"]["model"]
        model.todos = model.todos[:-1]
        client.add("mine", "z")
        self.story.audit(client)
        self.found("lost")

    def test_lost_commit_of_several_writers(self):
        a, b = self.two()
        a.add("both", "x")
        b.receive()
        model = self.server.stores["S", "both"]["model"]
        model.todos = []
        b.add("both", "y")
        a.receive()
        self.story.audit(a, b)
        self.check_kinds("lost")

    def test_revision_that_the_server_does_not_know(self):
        client = self.alone("x", "y")
        client.drop()
        client.attach()
        event = self.story.events[-1]
        event["message"]["result"]["stores"]["mine"] = {
            "snapshot": self.server.state("S", "mine"), "reason": "ahead"}
        self.story.audit(client)
        self.found("ahead")

    def test_overlapping_lease(self):
        """Two owners serve one session: each applies what its client sends."""
        a, b = self.two()
        b.server = self.server.copy()
        a.add("both", "x")
        b.add("both", "y")
        self.story.audit(a)
        self.found("two states")

    def test_overlapping_lease_of_separate_stores(self):
        """Two owners that never give a revision two states: one of them loses an input to which it has responded."""
        a, b = self.two(first=MINE, second=MINE)
        b.server = self.server.copy()
        a.add("first", "x")
        b.add("second", "y")
        self.story.audit(a, b)
        self.assertTrue(kinds(self.story) & {"lost", "goes back", "forgotten sequence"})

    def test_revision_used_twice(self):
        """After a takeover a revision that one client has seen gets another state."""
        a, b = self.two()
        earlier = self.server.copy()
        a.add("both", "x")
        a.drop()
        b.server = self.story.server = earlier
        b.add("both", "y")
        self.story.audit(b)
        self.found("two states")

    def test_input_applied_twice(self):
        client = self.alone("x")
        client.add("mine", "y", responded=False)
        client.drop()
        self.server.deduplicates = False
        client.attach()
        client.resend()
        self.story.audit(client)
        self.check_kinds("applied twice")

    def test_input_applied_twice_of_several_writers(self):
        a, b = self.two()
        a.add("both", "x", responded=False)
        a.drop()
        self.server.deduplicates = False
        a.attach()
        a.resend()
        b.receive()
        self.story.audit(a, b)
        self.check_kinds("applied twice")

    def test_input_applied_again_after_its_removal(self):
        a, b = self.two()
        a.add("both", "x", responded=False)
        b.receive()
        b.send("both", {"type": "todoRemoved", "id": "1"})
        a.drop()
        self.server.deduplicates = False
        a.attach()
        a.resend()
        self.story.audit(a, b)
        self.check_kinds("applied twice")

    def test_reordering(self):
        client = self.alone()
        for title in ("x", "y"):
            client.add("mine", title, arrives=False)
        # The second input arrives first, and the server does not notice.
        self.server.deduplicates = False
        client.drop()
        client.attach()
        for sequence in (3, 2):
            client.send(*client.pending[sequence], sequence=sequence)
        self.story.audit(client)
        self.check_kinds("order")

    def test_reordering_of_several_writers(self):
        a, b = self.two()
        for title in ("x", "y"):
            a.add("both", title, arrives=False)
        self.server.deduplicates = False
        a.drop()
        a.attach()
        for sequence in (3, 2):
            a.send(*a.pending[sequence], sequence=sequence)
        b.receive()
        self.story.audit(a, b)
        self.check_kinds("order")

    def test_update_sent_twice_with_another_patch(self):
        a, b = self.two()
        a.add("both", "x")
        b.drop()
        # The replay for one client contains another value than the update had.
        update = self.server.stores["S", "both"]["updates"][-1]
        update["patch"] = [{"op": "add", "path": "/todos/0", "value": {"id": "1", "title": "x", "completed": True}}]
        b.attach()
        self.story.audit(a, b)
        self.found("two states")

    def test_update_sent_twice(self):
        client = self.alone("x")
        client.update("mine", self.server.stores["S", "mine"]["updates"][-1])
        self.story.audit(client)
        self.check_kinds("base")

    def test_update_missing(self):
        a, b = self.two()
        a.add("both", "x")
        b.revisions["both"] += 1
        a.add("both", "y")
        b.receive()
        self.story.audit(a, b)
        self.check_kinds("base")

    def test_forgotten_sequence(self):
        client = self.alone("x", "y")
        client.drop()
        self.server.sequences["S", "a"] = 1
        client.attach()
        self.story.audit(client)
        self.check_kinds("forgotten sequence")

    def test_sequence_that_was_never_sent(self):
        client = self.alone("x")
        client.drop()
        self.server.sequences["S", "a"] = 9
        client.attach()
        self.story.audit(client)
        self.check_kinds("forgotten sequence")

    def test_response_before_its_update(self):
        client = self.alone("x")
        client.add("mine", "y")
        events = self.story.events
        at, earlier = events[-1]["message"], events[-2]["message"]
        events[-1]["message"], events[-2]["message"] = earlier, at
        self.story.audit(client)
        self.check_kinds("early response")

    def test_stale_read(self):
        """A former owner still serves reads, although its state is an old one."""
        a, b = self.two()
        b.server = self.server.copy()
        a.add("both", "x")
        b.drop()
        b.attach()
        self.story.audit(a)
        self.check_kinds("goes back")

    def test_lost_session(self):
        client = self.alone("x")
        client.drop()
        client.connect()
        client.call("session/attach", {"session": "S", "frontend": "a", "revisions": {}})
        client.record("received", {"id": client.last_id, "error": {"code": -32012, "message": "unknown session"}})
        self.story.audit(client)
        self.check_kinds("lost session")

    def test_unreadable_session_at_end(self):
        self.alone("x")
        self.check_kinds("lost session")

    def test_lists_that_differ(self):
        a = self.story.client("a", "A", ours=SHARED).begin()
        b = self.story.client("b", "B", ours=SHARED).begin()
        a.add("ours", "x", settle=True)
        # The other session misses the change.
        self.server.stores["B", "ours"]["updates"].pop()
        self.server.stores["B", "ours"].update(revision=1, state={"type": "content", "todos": []})
        self.story.audit(a, b)
        self.check_kinds("lists differ", "lost")

    def test_shared_list_out_of_order(self):
        a = self.story.client("a", "A", ours=SHARED).begin()
        b = self.story.client("b", "B", ours=SHARED).begin()
        a.add("ours", "x", settle=True)
        b.receive()
        b.add("ours", "y", settle=True)
        model = self.server.lists["ours"]
        model.todos = model.todos[::-1]
        a.add("ours", "z", settle=True)
        b.receive()
        self.story.audit(a, b)
        self.check_kinds("order")

    def test_unknown_title(self):
        a, b = self.two()
        a.add("both", "x")
        self.server.stores["S", "both"]["model"].take({"type": "todoAdded", "title": "ghost"})
        a.add("both", "y")
        b.receive()
        self.story.audit(a, b)
        self.check_kinds("invented")

    def test_refused_input_was_applied(self):
        a, b = self.two()
        a.add("both", "x", responded=False)
        a.receive()
        a.record("received", {"id": a.last_id, "error": {"code": -32015, "message": "no"}})
        self.story.audit(a, b)
        self.check_kinds("error", "invented")

    def test_lost_title_of_another_kind(self):
        a = self.story.client("a", "A", ours=SHARED).begin()
        a.call("store/open", {"store": "add", "kind": "addTodo", "config": SHARED})
        a.result({"revision": 0})
        a.call("store/send", {"store": "add", "sequence": 9, "settle": True,
                              "input": {"type": "addTodo", "title": "x"}})
        a.result({"revision": 1, "changed": True})
        self.server.sequences["A", "a"] = 9
        self.story.audit(a)
        self.found("lost")

    def test_digest_of_another_state(self):
        client = self.alone("x")
        client.call("store/state", {"store": "mine"})
        client.result({**self.server.state("S", "mine"), "digest": 1})
        self.story.audit(client)
        self.check_kinds("patch")

    def test_patch_that_does_not_apply(self):
        client = self.alone("x")
        revision = self.server.state("S", "mine")["revision"]
        client.update("mine", {"base": revision, "revision": revision + 1, "patch": [
            {"op": "remove", "path": "/todos/7"}]})
        self.story.audit(client)
        self.check_kinds("patch")

    def test_revision_that_does_not_rise(self):
        client = self.alone("x")
        revision = self.server.state("S", "mine")["revision"]
        client.update("mine", {"base": revision, "revision": revision, "patch": []})
        self.story.audit(client)
        self.check_kinds("goes back")

    def test_store_that_begins_again(self):
        client = self.alone("x")
        client.drop()
        client.attach(from_nothing=True)
        self.story.events[-1]["message"]["result"]["stores"]["mine"]["reason"] = "reopened"
        self.story.audit(client)
        self.check_kinds("lost session")

    def test_replay_that_ends_too_early(self):
        a, b = self.two()
        b.drop()
        a.add("both", "x")
        b.attach()
        # The replay is said to have no updates, and has none.
        update = self.story.events.pop()
        self.assertEqual(update["message"]["method"], "store/changed")
        self.story.events[-1]["message"]["result"]["stores"]["both"] = {"replayed": 0}
        b.revisions["both"] -= 1
        self.story.audit(a)
        self.check_kinds("goes back")

    def test_error_of_a_correct_input(self):
        client = self.alone("x")
        client.add("mine", "y", arrives=False)
        client.record("received", {"id": client.last_id, "error": {"code": -32603, "message": "internal error"}})
        self.story.audit(client)
        self.check_kinds("error")

    def test_library_abandons_an_input(self):
        client = self.alone("x")
        self.story.event("a", "failed", error="no")
        self.story.audit(client)
        self.check_kinds("error")

    def test_library_that_shows_another_state(self):
        client = self.alone("x")
        self.story.event("a", "shown", session="S", at_end=True, stores={"mine": {"type": "content", "todos": []}})
        self.story.audit(client)
        self.check_kinds("client")

    def test_violations_name_their_events(self):
        a, b = self.two()
        b.server = self.server.copy()
        a.add("both", "x")
        b.add("both", "y")
        self.story.audit(a)
        violations, _ = checker.check(self.story.events)
        first = next(violation for violation in violations if violation.kind == "two states")
        self.assertEqual([event["client"] for event in first.events], ["a", "b"])
        self.assertIn("story:", str(first))


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: Apache-2.0
"""Tests of the checker: good histories pass, each planted fault is found, with its kind."""

import copy
import unittest

import checker
import pretended
import states

MINE = {"memory": {"count": 0}}
SHARED = {"list": "ours"}


def kinds(story):
    violations, _ = checker.check(copy.deepcopy(story.events))
    return {violation.kind for violation in violations}


class Histories(unittest.TestCase):
    def setUp(self):
        self.story = pretended.Story()
        self.server = self.story.server

    def alone(self, *titles):
        """A client that is the only writer of its list, and has added titles."""
        client = self.story.client("a", mine=MINE).begin()
        for title in titles:
            client.add("mine", title)
        return client

    def two(self, **stores):
        """Two clients of one session."""
        stores = stores or {"both": MINE}
        return [self.story.client(name, **stores).begin() for name in ("a", "b")]

    def check_kinds(self, *expected):
        self.assertEqual(kinds(self.story), set(expected))

    def found(self, kind):
        self.assertIn(kind, kinds(self.story))


class GoodHistories(Histories):
    def test_quiet(self):
        client = self.alone("x", "y")
        client.send("mine", {"type": "todoRenamed", "id": "1", "title": "z"})
        client.send("mine", {"type": "todoMoved", "id": "1", "before": None})
        client.send("mine", {"type": "todoRemoved", "id": "2"})
        self.story.audit(client)
        self.check_kinds()

    def test_counts_what_was_compared(self):
        client = self.alone("x")
        self.story.audit(client)
        _, counts = checker.check(self.story.events)
        self.assertGreater(counts["replayed states"], 2)
        self.assertGreater(counts["states compared"], 0)

    def test_unanswered_input_was_applied_and_is_resent(self):
        client = self.alone("x")
        client.add("mine", "y", answered=False)
        client.lose()
        client.attach()
        client.resend()
        client.add("mine", "z")
        self.story.audit(client)
        self.check_kinds()

    def test_unanswered_input_was_not_applied_and_is_resent(self):
        client = self.alone("x")
        for title in ("y", "z"):
            client.add("mine", title, arrives=False)
        client.lose()
        client.attach()
        client.resend()
        self.story.audit(client)
        self.check_kinds()

    def test_batch_is_cut_in_the_middle(self):
        client = self.alone()
        for number in range(6):
            client.add("mine", f"{number}", arrives=number < 4, answered=number < 2)
        client.lose()
        client.attach()
        client.resend()
        self.story.audit(client)
        self.check_kinds()

    def test_unanswered_input_never_arrives(self):
        client = self.alone("x")
        client.add("mine", "y", arrives=False)
        client.lose()
        self.story.audit(client)
        self.check_kinds()

    def test_snapshot_after_the_replay_window(self):
        a, b = self.two()
        b.lose()
        self.server.kept = 2
        for number in range(8):
            a.add("both", f"{number}")
        b.attach()
        b.add("both", "b")
        a.hear()
        self.story.audit(a, b)
        self.check_kinds()

    def test_replay_after_a_kill(self):
        a, b = self.two()
        b.lose()
        for number in range(8):
            a.add("both", f"{number}")
        b.attach()
        self.story.audit(a, b)
        self.check_kinds()

    def test_replay_is_cut_and_begins_again(self):
        a, b = self.two()
        b.lose()
        for number in range(4):
            a.add("both", f"{number}")
        b.attach()
        # Two of the four updates did not arrive.
        del self.story.events[-2:]
        b.revisions["both"] -= 2
        b.lose()
        b.attach()
        self.story.audit(a, b)
        self.check_kinds()

    def test_interrupted_input_is_repeated(self):
        """The server ended while an input waited for its effects, and carried it out all the same."""
        client = self.alone("x")
        client.add("mine", "y", answered=False, settle=True)
        client.say("received", {"id": client.last_id, "error": {"code": -32800, "message": "the server has ended"}})
        client.lose()
        client.attach()
        client.resend()
        self.story.audit(client)
        self.check_kinds()

    def test_interrupted_input_is_given_up(self):
        client = self.alone("x")
        client.add("mine", "y", answered=False, settle=True)
        client.say("received", {"id": client.last_id, "error": {"code": -32800, "message": "the server has ended"}})
        client.add("mine", "z")
        self.story.audit(client)
        self.check_kinds()

    def test_session_cannot_be_read_for_a_moment(self):
        client = self.alone("x")
        client.lose()
        client.enter()
        client.call("session/attach", {"session": "S", "frontend": "a", "revisions": {}})
        client.say("received", {"id": client.last_id, "error": {"code": -32603, "message": "not now"}})
        client.attach()
        client.add("mine", "y")
        self.story.audit(client)
        self.check_kinds()

    def test_inputs_follow_attach_without_waiting(self):
        client = self.alone("x")
        client.add("mine", "y", arrives=False)
        client.lose()
        client.attach()
        response = self.story.events.pop()
        client.resend()
        request = next(event for event in self.story.events[::-1] if event["event"] == "sent")
        at = self.story.events.index(request)
        self.story.events.insert(at + 1, response)
        for number, event in enumerate(self.story.events):
            event["at"] = number
        self.story.audit(client)
        self.check_kinds()

    def test_store_that_was_never_shown(self):
        a = self.story.client("a", "A", ours=SHARED).begin()
        a.add("ours", "x", settle=True)
        b = self.story.client("b", "B", ours=SHARED)
        self.server.open("B", "ours", {"memory": {}})
        b.attach()
        b.call("store/open", {"store": "ours", "kind": "todo", "config": SHARED})
        b.lose()
        self.story.audit(a, b)
        self.check_kinds()

    def test_batch(self):
        client = self.alone("x", "y")
        for event in self.story.events[1:]:
            event["message"] = [event["message"]]
        self.story.audit(client)
        self.check_kinds()

    def test_list_of_two_sessions(self):
        a = self.story.client("a", "A", ours=SHARED).begin()
        b = self.story.client("b", "B", ours=SHARED).begin()
        a.add("ours", "x", settle=True)
        b.hear()
        b.add("ours", "y", settle=True)
        b.send("ours", {"type": "todoRemoved", "id": "1"}, settle=True)
        a.hear()
        self.story.audit(a, b)
        self.check_kinds()


class PlantedFaults(Histories):
    def test_lost_commit(self):
        client = self.alone("x")
        earlier = self.server.copy()
        client.add("mine", "y")
        client.lose()
        client.server = self.story.server = earlier
        client.attach(from_nothing=True)
        self.story.audit(client)
        self.found("forgotten sequence")
        self.found("goes back")
        self.found("lost")

    def test_lost_commit_before_more_inputs(self):
        """The list continues as if one answered input had never been; all counters continue."""
        client = self.alone("x", "y")
        model = self.server.stores["S", "mine"]["model"]
        model.todos = model.todos[:-1]
        client.add("mine", "z")
        self.story.audit(client)
        self.found("lost")

    def test_lost_commit_of_several_writers(self):
        a, b = self.two()
        a.add("both", "x")
        b.hear()
        model = self.server.stores["S", "both"]["model"]
        model.todos = []
        b.add("both", "y")
        a.hear()
        self.story.audit(a, b)
        self.check_kinds("lost")

    def test_revision_that_the_server_does_not_know(self):
        client = self.alone("x", "y")
        client.lose()
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
        """Two owners that never give a revision two states: one of them loses what it has answered."""
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
        a.lose()
        b.server = self.story.server = earlier
        b.add("both", "y")
        self.story.audit(b)
        self.found("two states")

    def test_input_applied_twice(self):
        client = self.alone("x")
        client.add("mine", "y", answered=False)
        client.lose()
        self.server.deduplicates = False
        client.attach()
        client.resend()
        self.story.audit(client)
        self.check_kinds("applied twice")

    def test_input_applied_twice_of_several_writers(self):
        a, b = self.two()
        a.add("both", "x", answered=False)
        a.lose()
        self.server.deduplicates = False
        a.attach()
        a.resend()
        b.hear()
        self.story.audit(a, b)
        self.check_kinds("applied twice")

    def test_input_applied_again_after_its_removal(self):
        a, b = self.two()
        a.add("both", "x", answered=False)
        b.hear()
        b.send("both", {"type": "todoRemoved", "id": "1"})
        a.lose()
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
        client.lose()
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
        a.lose()
        a.attach()
        for sequence in (3, 2):
            a.send(*a.pending[sequence], sequence=sequence)
        b.hear()
        self.story.audit(a, b)
        self.check_kinds("order")

    def test_update_told_twice_with_another_patch(self):
        a, b = self.two()
        a.add("both", "x")
        b.lose()
        # The replay for one client contains another value than the update had.
        update = self.server.stores["S", "both"]["updates"][-1]
        update["patch"] = [{"op": "add", "path": "/todos/0", "value": {"id": "1", "title": "x", "completed": True}}]
        b.attach()
        self.story.audit(a, b)
        self.found("two states")

    def test_update_told_twice(self):
        client = self.alone("x")
        client.update("mine", self.server.stores["S", "mine"]["updates"][-1])
        self.story.audit(client)
        self.check_kinds("base")

    def test_update_left_out(self):
        a, b = self.two()
        a.add("both", "x")
        b.revisions["both"] += 1
        a.add("both", "y")
        b.hear()
        self.story.audit(a, b)
        self.check_kinds("base")

    def test_forgotten_sequence(self):
        client = self.alone("x", "y")
        client.lose()
        self.server.sequences["S", "a"] = 1
        client.attach()
        self.story.audit(client)
        self.check_kinds("forgotten sequence")

    def test_sequence_that_was_never_sent(self):
        client = self.alone("x")
        client.lose()
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
        self.check_kinds("early answer")

    def test_stale_read(self):
        """A former owner still serves reads, although its state is an old one."""
        a, b = self.two()
        b.server = self.server.copy()
        a.add("both", "x")
        b.lose()
        b.attach()
        self.story.audit(a)
        self.check_kinds("goes back")

    def test_lost_session(self):
        client = self.alone("x")
        client.lose()
        client.enter()
        client.call("session/attach", {"session": "S", "frontend": "a", "revisions": {}})
        client.say("received", {"id": client.last_id, "error": {"code": -32012, "message": "unknown session"}})
        self.story.audit(client)
        self.check_kinds("lost session")

    def test_session_that_nobody_can_read_at_the_end(self):
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
        b.hear()
        b.add("ours", "y", settle=True)
        model = self.server.lists["ours"]
        model.todos = model.todos[::-1]
        a.add("ours", "z", settle=True)
        b.hear()
        self.story.audit(a, b)
        self.check_kinds("order")

    def test_title_that_nobody_has_sent(self):
        a, b = self.two()
        a.add("both", "x")
        self.server.stores["S", "both"]["model"].take({"type": "todoAdded", "title": "ghost"})
        a.add("both", "y")
        b.hear()
        self.story.audit(a, b)
        self.check_kinds("invented")

    def test_refused_input_was_applied(self):
        a, b = self.two()
        a.add("both", "x", answered=False)
        a.hear()
        a.say("received", {"id": a.last_id, "error": {"code": -32015, "message": "no"}})
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
        client.lose()
        client.attach(from_nothing=True)
        self.story.events[-1]["message"]["result"]["stores"]["mine"]["reason"] = "reopened"
        self.story.audit(client)
        self.check_kinds("lost session")

    def test_replay_that_ends_too_early(self):
        a, b = self.two()
        b.lose()
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
        client.say("received", {"id": client.last_id, "error": {"code": -32603, "message": "internal error"}})
        self.story.audit(client)
        self.check_kinds("error")

    def test_library_that_gives_an_input_up(self):
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


class Patches(unittest.TestCase):
    def test_operations(self):
        state = {"a": [1, 2, 3], "b/c": {"~": 1}}
        for patch, expected in [
            ([{"op": "add", "path": "/a/0", "value": 0}], {"a": [0, 1, 2, 3], "b/c": {"~": 1}}),
            ([{"op": "remove", "path": "/a/2"}], {"a": [1, 2], "b/c": {"~": 1}}),
            ([{"op": "move", "from": "/a/2", "path": "/a/0"}], {"a": [3, 1, 2], "b/c": {"~": 1}}),
            ([{"op": "replace", "path": "/b~1c/~0", "value": None}], {"a": [1, 2, 3], "b/c": {"~": None}}),
            ([{"op": "replace", "path": "", "value": 7}], 7),
        ]:
            self.assertEqual(states.patched(state, patch), expected)
            self.assertEqual(state, {"a": [1, 2, 3], "b/c": {"~": 1}})

    def test_failures(self):
        for patch in [
            {"op": "add", "path": "/a/4", "value": 0}, {"op": "remove", "path": "/a/3"},
            {"op": "replace", "path": "/x", "value": 0}, {"op": "add", "path": "/a/-", "value": 0},
            {"op": "add", "path": "/a/01", "value": 0}, {"op": "add", "path": "/a/0/b", "value": 0}, {"op": "copy", "from": "/a", "path": "/b"},
        ]:
            with self.assertRaises(states.PatchError, msg=patch):
                states.patched({"a": [1, 2, 3]}, [patch])

    def test_canonical_form(self):
        self.assertEqual(states.canonical({"b": 1.0, "a": ["é", True]}), '{"a":["é",true],"b":1}')
        self.assertNotEqual(states.compact({"a": 1}), states.compact({"a": True}))
        one, true = ({"todos": [{"id": "1", "completed": value}]} for value in (1, True))
        self.assertNotEqual(states.compact(one), states.compact(true))
        self.assertEqual(states.compact(one), states.compact({"todos": [{"completed": 1.0, "id": "1"}]}))


if __name__ == "__main__":
    unittest.main()

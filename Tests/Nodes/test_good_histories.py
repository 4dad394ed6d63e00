# SPDX-License-Identifier: Apache-2.0
"""Good histories pass the checker, nasty ones too."""

import unittest

import checker
from test_support import SHARED, Histories


class GoodHistories(Histories):
    def test_quiet(self):
        client = self.alone("x", "y")
        client.send("mine", {"type": "todoRenamed", "id": "1", "title": "z"})
        client.send("mine", {"type": "todoMoved", "id": "1", "before": None})
        client.send("mine", {"type": "todoRemoved", "id": "2"})
        self.story.audit(client)
        self.check_kinds()

    def test_compared_states_are_counted(self):
        client = self.alone("x")
        self.story.audit(client)
        _, counts = checker.check(self.story.events)
        self.assertGreater(counts["replayed states"], 2)
        self.assertGreater(counts["states compared"], 0)

    def test_input_without_response_was_applied_and_is_resent(self):
        client = self.alone("x")
        client.add("mine", "y", responded=False)
        client.drop()
        client.attach()
        client.resend()
        client.add("mine", "z")
        self.story.audit(client)
        self.check_kinds()

    def test_input_without_response_was_not_applied_and_is_resent(self):
        client = self.alone("x")
        for title in ("y", "z"):
            client.add("mine", title, arrives=False)
        client.drop()
        client.attach()
        client.resend()
        self.story.audit(client)
        self.check_kinds()

    def test_batch_is_cut_in_the_middle(self):
        client = self.alone()
        for number in range(6):
            client.add("mine", f"{number}", arrives=number < 4, responded=number < 2)
        client.drop()
        client.attach()
        client.resend()
        self.story.audit(client)
        self.check_kinds()

    def test_input_without_response_never_arrives(self):
        client = self.alone("x")
        client.add("mine", "y", arrives=False)
        client.drop()
        self.story.audit(client)
        self.check_kinds()

    def test_snapshot_after_the_replay_window(self):
        a, b = self.two()
        b.drop()
        self.server.kept = 2
        for number in range(8):
            a.add("both", f"{number}")
        b.attach()
        b.add("both", "b")
        a.receive()
        self.story.audit(a, b)
        self.check_kinds()

    def test_replay_after_a_kill(self):
        a, b = self.two()
        b.drop()
        for number in range(8):
            a.add("both", f"{number}")
        b.attach()
        self.story.audit(a, b)
        self.check_kinds()

    def test_replay_is_cut_and_begins_again(self):
        a, b = self.two()
        b.drop()
        for number in range(4):
            a.add("both", f"{number}")
        b.attach()
        # Two of the four updates did not arrive.
        del self.story.events[-2:]
        b.revisions["both"] -= 2
        b.drop()
        b.attach()
        self.story.audit(a, b)
        self.check_kinds()

    def test_interrupted_input_is_repeated(self):
        """The server ended while an input waited for its effects, and carried it out all the same."""
        client = self.alone("x")
        client.add("mine", "y", responded=False, settle=True)
        client.record("received", {"id": client.last_id, "error": {"code": -32800, "message": "the server has ended"}})
        client.drop()
        client.attach()
        client.resend()
        self.story.audit(client)
        self.check_kinds()

    def test_interrupted_input_is_given_up(self):
        client = self.alone("x")
        client.add("mine", "y", responded=False, settle=True)
        client.record("received", {"id": client.last_id, "error": {"code": -32800, "message": "the server has ended"}})
        client.add("mine", "z")
        self.story.audit(client)
        self.check_kinds()

    def test_session_cannot_be_read_for_a_moment(self):
        client = self.alone("x")
        client.drop()
        client.connect()
        client.call("session/attach", {"session": "S", "frontend": "a", "revisions": {}})
        client.record("received", {"id": client.last_id, "error": {"code": -32603, "message": "not now"}})
        client.attach()
        client.add("mine", "y")
        self.story.audit(client)
        self.check_kinds()

    def test_inputs_follow_attach_without_waiting(self):
        client = self.alone("x")
        client.add("mine", "y", arrives=False)
        client.drop()
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
        b.drop()
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
        b.receive()
        b.add("ours", "y", settle=True)
        b.send("ours", {"type": "todoRemoved", "id": "1"}, settle=True)
        a.receive()
        self.story.audit(a, b)
        self.check_kinds()


if __name__ == "__main__":
    unittest.main()

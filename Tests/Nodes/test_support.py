# SPDX-License-Identifier: Apache-2.0
"""A test case with a history that a simulated server writes."""

import copy
import unittest

import checker
import simulated_server

MINE = {"memory": {"count": 0}}
SHARED = {"list": "ours"}


def kinds(story):
    violations, _ = checker.check(copy.deepcopy(story.events))
    return {violation.kind for violation in violations}


class Histories(unittest.TestCase):
    def setUp(self):
        self.story = simulated_server.Story()
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

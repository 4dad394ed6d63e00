# SPDX-License-Identifier: Apache-2.0
"""Tests of the measurement of pauses."""

import unittest

import pauses

SECOND = 1_000_000_000


def history(responses, faults, client="a", **settings):
    """A history of a client with responses at these seconds, and of faults at these."""
    events = [{"at": 0, "client": client, "event": "started", "settings": settings}]
    events += [{"at": at * SECOND, "client": "chaos", "event": "fault", "fault": fault, "began": at * SECOND}
               for at, fault in faults]
    for number, at in enumerate(responses):
        for event, message in (("sent", {"method": "store/send"}), ("received", {"result": {}})):
            events.append({"at": at * SECOND, "client": client, "connection": 1, "event": event,
                           "message": {"id": number, **message}})
    return sorted(events, key=lambda event: event["at"])


class Pauses(unittest.TestCase):
    def check_pauses(self, events, expected):
        self.assertEqual(pauses.measure(events)[0], expected)

    def test_pause_counts_from_the_fault(self):
        self.check_pauses(history([1, 2, 6, 7], [(3, "kill")]), {"kill": [[3.0]]})

    def test_pause_after_the_fault(self):
        self.check_pauses(history([1, 2, 3, 4, 9], [(2, "restart")]), {"restart": [[5.0]]})

    def test_pause_with_several_faults(self):
        self.check_pauses(history([1, 10, 11], [(2, "kill"), (5, "stop")]),
                          {"kill": [[]], "several": [[8.0]], "stop": [[1.0]]})

    def test_pause_does_not_belong_to_the_fault_before(self):
        self.check_pauses(history([1, 2, 3, 23, 24], [(2, "kill"), (4, "stop")]), {"kill": [[1.0]], "stop": [[19.0]]})

    def test_sleeping_clients_are_ignored(self):
        self.check_pauses(history([1, 9], [(2, "kill")], sleeps=True), {"kill": [[]]})
        self.assertEqual(len(pauses.table({"kill": [[]]}, {})), 1)

    def test_connections(self):
        events = history([1, 9], [(2, "kill")])
        for number, at in enumerate((0.5, 3, 4), 2):
            events.append({"at": at * SECOND, "client": "a", "connection": number, "event": "received",
                           "message": {"method": "session/presence"}})
        events.sort(key=lambda event: event["at"])
        _, connections = pauses.measure(events)
        self.assertEqual(connections, {"kill": [2]})
        self.assertIn("2.0", pauses.table(*pauses.measure(events))[1])


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: Apache-2.0
"""The delays between attempts to connect."""

from __future__ import annotations

import unittest
from unittest import mock

from statewire import Backoff


def bounds(backoff: Backoff, failures: int) -> tuple[float, float]:
    """The least and the greatest delay."""
    with mock.patch("random.uniform", lambda least, most: least):
        least = backoff.delay(failures)
    with mock.patch("random.uniform", lambda least, most: most):
        return least, backoff.delay(failures)


class BackoffTests(unittest.TestCase):
    def test_the_default_delays_are_those_of_the_protocol(self) -> None:
        delays = [bounds(Backoff(), failures) for failures in range(8)]
        self.assertEqual(delays, [
            (0, 0.1), (0.2, 0.4), (0.4, 0.8), (0.8, 1.6), (1.6, 3.2), (3.2, 6.4), (5, 10), (5, 10)])

    def test_delays_stay_finite(self) -> None:
        self.assertEqual(bounds(Backoff(base=0.01, maximum=0.08), 5000), (0.04, 0.08))

    def test_delays_are_within_their_bounds(self) -> None:
        for failures in range(4):
            least, most = bounds(Backoff(), failures)
            for _ in range(100):
                self.assertTrue(least <= Backoff().delay(failures) <= most)

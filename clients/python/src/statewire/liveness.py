# SPDX-License-Identifier: Apache-2.0
"""Detects dead connections: a machine sleeps, a cable is unplugged, a router drops its state."""

from __future__ import annotations

from typing import Literal

BEATS_PER_PERIOD = 4


class Liveness:
    """Decides on each beat whether to send `ping` to a silent server or to drop the connection.

    A beat is a quarter of the ping interval.
    """

    def __init__(self) -> None:
        self._silence = 0
        self._pinged_at: int | None = None

    def received(self) -> None:
        """Records that a message has arrived."""
        self._silence, self._pinged_at = 0, None

    def beat(self, is_awaiting: bool) -> Literal["wait", "ping", "dead"]:
        """Advances by one beat; `is_awaiting` is true while a response is pending."""
        self._silence += 1
        if self._pinged_at is not None:
            return "wait" if self._silence - self._pinged_at < 3 else "dead"
        if self._silence < (2 if is_awaiting else BEATS_PER_PERIOD):
            return "wait"
        self._pinged_at = self._silence
        return "ping"

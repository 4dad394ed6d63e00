# SPDX-License-Identifier: Apache-2.0
"""A connection can die without an end: a machine sleeps, a cable is pulled, a router forgets it."""

from __future__ import annotations

from typing import Literal

BEATS_PER_PERIOD = 4


class Liveness:
    """Decides, beat by beat, when a silent server is asked with `ping` and when its connection is given up.

    A beat is a quarter of the longest silence that is not asked about.
    """

    def __init__(self) -> None:
        self._silence = 0
        self._asked_at: int | None = None

    def heard(self) -> None:
        """A message has come."""
        self._silence, self._asked_at = 0, None

    def beat(self, is_awaiting: bool) -> Literal["wait", "ask", "gone"]:
        """A beat has passed; `is_awaiting`: a response is missing."""
        self._silence += 1
        if self._asked_at is not None:
            return "wait" if self._silence - self._asked_at < 3 else "gone"
        if self._silence < (2 if is_awaiting else BEATS_PER_PERIOD):
            return "wait"
        self._asked_at = self._silence
        return "ask"

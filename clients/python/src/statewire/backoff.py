# SPDX-License-Identifier: Apache-2.0
"""Delays between attempts to connect."""

from __future__ import annotations

import dataclasses
import random


@dataclasses.dataclass(frozen=True)
class Backoff:
    """Exponential delays with jitter, so that clients do not reconnect at the same time."""

    # Delay n, counted from 0, is at most `base * factor**n` seconds and at least half of that. Delay 0 is
    # between 0 and half of `base`.
    base: float = 0.2
    factor: float = 2.0
    # The upper bound of all delays, in seconds.
    maximum: float = 10.0

    def delay(self, failures: int) -> float:
        """Computes the delay after a number of consecutive failures, in seconds."""
        # The exponent is bounded: it would overflow if a server were away for a day.
        longest = min(self.maximum, self.base * self.factor ** min(failures, 64))
        return random.uniform(longest / 2, longest) if failures else random.uniform(0, longest / 2)

# SPDX-License-Identifier: Apache-2.0
"""How long to wait before trying again."""

from __future__ import annotations

import dataclasses
import random


@dataclasses.dataclass(frozen=True)
class Backoff:
    """Longer each time, and never the same for two clients, which would all come back at once."""

    # Seconds before the second try, on average; the first one is about at once.
    base: float = 0.2
    factor: float = 2.0
    # The longest wait in seconds.
    longest: float = 10.0

    def delay(self, failures: int) -> float:
        """Seconds to wait after so many failures in a row."""
        # The exponent is bounded: a float overflows where a server stays away for a day.
        longest = min(self.longest, self.base * self.factor ** min(failures, 64))
        return random.uniform(longest / 2, longest) if failures else random.uniform(0, longest / 2)

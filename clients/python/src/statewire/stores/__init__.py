# SPDX-License-Identifier: Apache-2.0
"""Stores in Python: `serve` connects a store kind with a Statewire server, `TestStore` tests it.

The package imports nothing of the client, so a project can have a copy of this folder.
"""

from .effects import Effect, Refusal, action, after, cancel, event, every, redacted, run
from .kind import Context, StoreKind, Viewer
from .serving import Work, serve
from .testing import TestFailure, TestStore

__all__ = ["Context", "Effect", "Refusal", "StoreKind", "TestFailure", "TestStore", "Viewer", "Work",
           "action", "after", "cancel", "event", "every", "redacted", "run", "serve"]  # fmt: skip

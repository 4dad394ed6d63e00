# SPDX-License-Identifier: Apache-2.0
"""The replica of a store's view state, updated by `store/changed`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from .canonical import digest
from .patch import Document, PatchError

# How a replica differs from the server's state. gap: an update is missing. patch: a patch does not apply.
# digest: the digests differ.
Divergence = Literal["gap", "patch", "digest"]


class Replica:
    """The view state of one store at one revision.

    After a divergence the replica ignores updates until it is reset: they start from a state that it does not
    hold.
    """

    __slots__ = ("_document", "format", "has_diverged", "revision", "store")

    def __init__(self, store: str, revision: int, state: Any) -> None:
        self.store = store
        self.format: Literal["patch", "state"] = "patch"
        self.reset(revision, state)

    def reset(self, revision: int, state: Any) -> None:
        """Replaces the state."""
        self.revision = revision
        self._document = Document(state)
        self.has_diverged = False

    @property
    def state(self) -> Any:
        """The current state. No later update changes it; the caller must not change it either."""
        return self._document.value()

    def apply(self, update: Mapping[str, Any]) -> Divergence | None:
        """Applies the params of a `store/changed`; returns the divergence that they reveal, or None."""
        if self.has_diverged:
            return None
        base, revision = update.get("base"), update.get("revision")
        if type(revision) is not int:
            return self._diverge("patch")
        if "state" in update:
            self.reset(revision, update["state"])
            return None
        if base != self.revision:
            return self._diverge("gap")
        try:
            self._document.apply(update.get("patch"))
        except PatchError:
            return self._diverge("patch")
        self.revision = revision
        return None

    def check_response(self, revision: object) -> Divergence | None:
        """Compares the revision of a response: the update to that revision must have arrived before it."""
        if not self.has_diverged and type(revision) is int and revision > self.revision:
            return self._diverge("gap")
        return None

    def compare(self, result: Mapping[str, Any]) -> Divergence | None:
        """Compares the result of `store/state` with the replica.

        A coalesced update may have arrived before the result and have a later revision. Then the result says
        nothing about the replica.
        """
        if self.has_diverged:
            return None
        if result.get("revision") == self.revision and digest(self.state) != result.get("digest"):
            return self._diverge("digest")
        return self.check_response(result.get("revision"))

    def _diverge(self, divergence: Divergence) -> Divergence:
        self.has_diverged = True
        return divergence

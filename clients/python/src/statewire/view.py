# SPDX-License-Identifier: Apache-2.0
"""What a connection holds of one store: its state, kept up to date by frames."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from .canonical import digest
from .patch import Document, PatchError

# Why a view is not the server's: a frame is missing, one does not apply, or the digest says so.
Fault = Literal["gap", "patch", "digest"]


class View:
    """The state of one store at one revision.

    After a fault it takes no frame until it is reset: what comes until then leads on from a state that
    it does not hold.
    """

    __slots__ = ("_document", "format", "is_faulty", "revision", "store")

    def __init__(self, store: str, revision: int, state: Any) -> None:
        self.store = store
        self.format: Literal["patch", "state"] = "patch"
        self.reset(revision, state)

    def reset(self, revision: int, state: Any) -> None:
        """Holds this state from now on."""
        self.revision = revision
        self._document = Document(state)
        self.is_faulty = False

    @property
    def state(self) -> Any:
        """The state held, which no frame changes. Nobody else may change it either."""
        return self._document.value()

    def change(self, frame: Mapping[str, Any]) -> Fault | None:
        """Takes the params of a `store/changed`; what is wrong with it, if something is."""
        if self.is_faulty:
            return None
        base, revision = frame.get("base"), frame.get("revision")
        if type(revision) is not int:
            return self._fault("patch")
        if "state" in frame:
            self.reset(revision, frame["state"])
            return None
        if base != self.revision:
            return self._fault("gap")
        try:
            self._document.apply(frame.get("patch"))
        except PatchError:
            return self._fault("patch")
        self.revision = revision
        return None

    def answered(self, revision: object) -> Fault | None:
        """Takes the revision of an answer: whoever holds the answer holds the state."""
        if not self.is_faulty and type(revision) is int and revision > self.revision:
            return self._fault("gap")
        return None

    def compare(self, answer: Mapping[str, Any]) -> Fault | None:
        """Takes the answer to a `store/state`.

        Frames that were merged may have come before it and lead further; then nothing can be said.
        """
        if self.is_faulty:
            return None
        if answer.get("revision") == self.revision and digest(self.state) != answer.get("digest"):
            return self._fault("digest")
        return self.answered(answer.get("revision"))

    def _fault(self, fault: Fault) -> Fault:
        self.is_faulty = True
        return fault

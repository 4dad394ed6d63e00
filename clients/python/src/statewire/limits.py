# SPDX-License-Identifier: Apache-2.0
"""Frames, measured before they are sent: one that the server refuses gets no response."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from .errors import LimitMet

_encode = json.JSONEncoder(separators=(",", ":"), allow_nan=False).encode
# A string, or a bracket outside of one.
_BRACKETS = re.compile(rb'"(?:[^"\\]|\\.)*"|[\[\]{}]')


def encode(message: Mapping[str, Any]) -> bytes:
    """The frame of a message.

    - Raises: `TypeError`, `ValueError` for what is not JSON;
      `LimitMet` for what nests deeper than can be encoded.
    """
    try:
        return _encode(message).encode()
    except RecursionError:
        raise LimitMet.of_frame("nesting", "the message nests too deep") from None


def request_frame(request: int, method: str, params: Mapping[str, Any]) -> bytes:
    """The frame of a request; raises as `encode`."""
    return encode({"jsonrpc": "2.0", "id": request, "method": method, "params": params})


class Limits(NamedTuple):
    """The largest frames that a server accepts; None where that is not known."""

    frame_bytes: int | None = None
    nesting: int | None = None

    @staticmethod
    def of(told: object) -> Limits:
        """The limits that the result of `initialize` tells, if it does."""
        told = told if isinstance(told, Mapping) else {}
        frame_bytes, nesting = told.get("frameBytes"), told.get("nesting")
        return Limits(
            frame_bytes if type(frame_bytes) is int else None, nesting if type(nesting) is int else None)

    def check(self, frame: bytes) -> None:
        """Raises `LimitMet` for a frame that the server would refuse."""
        if self.frame_bytes is not None and len(frame) > self.frame_bytes:
            raise LimitMet.of_frame(
                "frameBytes", f"a message has at most {self.frame_bytes} bytes, and this one {len(frame)}")
        if self.nesting is not None and nesting(frame, self.nesting) > self.nesting:
            raise LimitMet.of_frame("nesting", f"a message nests at most {self.nesting} deep")


def nesting(frame: bytes, enough: int = 0) -> int:
    """How deep a frame nests. Where it has no more brackets than `enough`, only their number."""
    count = frame.count(b"[") + frame.count(b"{")
    if count <= enough:
        return count
    deepest = depth = 0
    # Strings are skipped: their brackets are text.
    for bracket in _BRACKETS.finditer(frame):
        byte = bracket[0][0]
        if byte in b"[{":
            depth += 1
            deepest = max(deepest, depth)
        elif byte in b"]}":
            depth -= 1
    return deepest

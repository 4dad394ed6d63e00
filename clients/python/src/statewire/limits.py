# SPDX-License-Identifier: Apache-2.0
"""Measures frames before they are sent: a frame that the server refuses gets no response."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from .errors import LimitError

_encode = json.JSONEncoder(separators=(",", ":"), allow_nan=False).encode
# A string, or a bracket outside a string.
_BRACKETS = re.compile(rb'"(?:[^"\\]|\\.)*"|[\[\]{}]')


def encode(message: Mapping[str, Any]) -> bytes:
    """Encodes a message as a frame.

    - Raises: `TypeError`, `ValueError` if it is not JSON; `LimitError` if it is nested too deeply to encode.
    """
    try:
        return _encode(message).encode()
    except RecursionError:
        raise LimitError.of_frame("nesting", "the message is nested too deeply to encode") from None


def request_frame(request: int, method: str, params: Mapping[str, Any]) -> bytes:
    """Encodes a request as a frame; raises the same errors as `encode`."""
    return encode({"jsonrpc": "2.0", "id": request, "method": method, "params": params})


class Limits(NamedTuple):
    """The limits of frames that the server accepts; None for an unknown limit."""

    frame_bytes: int | None = None
    nesting: int | None = None

    @staticmethod
    def of(limits: object) -> Limits:
        """Reads the member `limits` of the result of `initialize`, which may be missing."""
        limits = limits if isinstance(limits, Mapping) else {}
        frame_bytes, nesting = limits.get("frameBytes"), limits.get("nesting")
        return Limits(
            frame_bytes if type(frame_bytes) is int else None, nesting if type(nesting) is int else None)

    def check(self, frame: bytes) -> None:
        """Raises `LimitError` if a frame exceeds a limit."""
        if self.frame_bytes is not None and len(frame) > self.frame_bytes:
            raise LimitError.of_frame(
                "frameBytes", f"the message has {len(frame)} bytes, the limit is {self.frame_bytes}")
        if self.nesting is not None and nesting(frame, self.nesting) > self.nesting:
            raise LimitError.of_frame(
                "nesting", f"the message is nested too deeply, the limit is {self.nesting} levels")


def nesting(frame: bytes, enough: int = 0) -> int:
    """Computes the nesting depth of a frame. If it has at most `enough` brackets, returns their number: a
    fast upper bound."""
    count = frame.count(b"[") + frame.count(b"{")
    if count <= enough:
        return count
    deepest = depth = 0
    # Brackets inside strings do not count.
    for bracket in _BRACKETS.finditer(frame):
        byte = bracket[0][0]
        if byte in b"[{":
            depth += 1
            deepest = max(deepest, depth)
        elif byte in b"]}":
            depth -= 1
    return deepest

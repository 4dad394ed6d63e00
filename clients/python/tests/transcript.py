# SPDX-License-Identifier: Apache-2.0
"""Reads transcripts of clients/conformance/record."""

from __future__ import annotations

import dataclasses
import json
import re
from typing import Any

_LINE = re.compile(r"(?:(\S+) )?(-->|<--) (.*)", re.DOTALL)


@dataclasses.dataclass
class Line:
    """One message, or the end of a connection."""

    number: int
    name: str
    is_sent: bool
    # The message; None for the end of a connection and for texts that no client sends.
    message: Any
    text: str


@dataclasses.dataclass
class Conversation:
    title: str
    lines: list[Line]


def conversations(text: str) -> list[Conversation]:
    read: list[Conversation] = []
    # `splitlines` would split at U+2028 too.
    for number, line in enumerate(text.split("\n"), start=1):
        if line.startswith("# "):
            read.append(Conversation(line[2:], []))
        elif line:
            found = _LINE.fullmatch(line)
            if not found:
                raise ValueError(f"line {number} of the transcript is none: {line[:80]}")
            name, arrow, rest = found.groups()
            message = json.loads(rest) if rest[:1] in ("{", "[") else None
            read[-1].lines.append(Line(number, name or "", arrow == "-->", message, rest))
    return read

# SPDX-License-Identifier: Apache-2.0
"""Text from a server, made safe to print."""

from __future__ import annotations

# Control pictures for C0 and DEL, U+FFFD for what has none: C1, bidirectional controls, and lone surrogates,
# which cannot be encoded for the terminal.
_SUBSTITUTES: dict[int, str] = {code: chr(0x2400 + code) for code in range(0x20)}
_SUBSTITUTES.update(dict.fromkeys([
    *range(0x80, 0xA0), 0x061C, 0x200E, 0x200F, *range(0x2028, 0x202F), *range(0x2066, 0x206A),
    *range(0xD800, 0xE000)], "�"))
_SUBSTITUTES.update({0x7F: "␡", 0x85: "␤", 0x2028: "␤"})


def visible(text: object) -> str:
    """Replaces each character that a terminal would execute by one that it shows.

    Covers C0, DEL, C1, line ends and bidirectional controls. The result has one character for each of the
    text, so that positions are the same in both.
    """
    return str(text).translate(_SUBSTITUTES)

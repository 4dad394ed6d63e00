# SPDX-License-Identifier: Apache-2.0
"""Makes text from a server safe to print."""

from __future__ import annotations

# Control pictures for C0 and DEL; U+FFFD for C1, bidirectional controls and lone surrogates, which have no
# picture.
_SUBSTITUTES: dict[int, str] = {code: chr(0x2400 + code) for code in range(0x20)}
_SUBSTITUTES.update(dict.fromkeys([
    *range(0x80, 0xA0), 0x061C, 0x200E, 0x200F, *range(0x2028, 0x202F), *range(0x2066, 0x206A),
    *range(0xD800, 0xE000)], "�"))
_SUBSTITUTES.update({0x7F: "␡", 0x85: "␤", 0x2028: "␤"})


def printable(text: object) -> str:
    """Replaces each character that a terminal would execute with a visible one.

    Replaces C0, DEL, C1, line ends, bidirectional controls and lone surrogates. The result has the same
    length as the text.
    """
    return str(text).translate(_SUBSTITUTES)

# SPDX-License-Identifier: Apache-2.0
"""The canonical form of JSON (RFC 8785), and the digest that clients and the server compare."""

from __future__ import annotations

import json
import zlib
from typing import Any

# Quotes a string and escapes exactly the characters that RFC 8785 requires.
_quoted = json.JSONEncoder(ensure_ascii=False).encode
# Up to here integers are exact as doubles, and Python and ECMAScript write them in the same way.
_MAXIMUM_EXACT = 1 << 53


def digest(value: Any) -> int:
    """Computes the CRC-32 of the canonical form."""
    return zlib.crc32(canonical(value))


def canonical(value: Any) -> bytes:
    """Encodes a value in its canonical form, in UTF-8.

    - Raises: `ValueError` for a number that a double cannot hold.
    """
    parts: list[str] = []
    _write(value, parts.append)
    # The server reads an escaped lone surrogate as U+FFFD.
    return "".join(parts).encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()


def _write(value: Any, put: Any) -> None:
    kind = type(value)
    if kind is str:
        put(_quoted(value))
    elif kind is dict:
        separator = "{"
        for key in sorted(value) if all(map(str.isascii, value)) else sorted(value, key=_units):
            put(f"{separator}{_quoted(key)}:")
            _write(value[key], put)
            separator = ","
        put("}" if value else "{}")
    elif kind is list:
        separator = "["
        for element in value:
            put(separator)
            _write(element, put)
            separator = ","
        put("]" if value else "[]")
    elif value is None:
        put("null")
    elif value is True:
        put("true")
    elif value is False:
        put("false")
    elif kind is int and -_MAXIMUM_EXACT <= value <= _MAXIMUM_EXACT:
        put(str(value))
    elif kind is int or kind is float:
        put(_number(float(value)))
    else:
        raise TypeError(f"{kind.__name__} is not a JSON type")


def _units(key: str) -> bytes:
    """Computes the sort key of an object key: its UTF-16 code units."""
    return key.encode("utf-16-be", "surrogatepass")


def _number(value: float) -> str:
    """Formats a double as ECMAScript does, from the shortest digits, which `repr` computes."""
    if value != value or value in (float("inf"), float("-inf")):
        raise ValueError("NaN and infinity are not JSON numbers")
    if value == 0:
        return "0"
    sign = "-" if value < 0 else ""
    mantissa, _, exponent = repr(abs(value)).partition("e")
    whole, _, fraction = mantissa.partition(".")
    if fraction == "0":
        fraction = ""
    digits = whole + fraction
    point = len(whole) + int(exponent or 0)
    stripped = digits.lstrip("0")
    point -= len(digits) - len(stripped)
    digits = stripped.rstrip("0")
    count = len(digits)
    if count <= point <= 21:
        return sign + digits + "0" * (point - count)
    if 0 < point <= 21:
        return f"{sign}{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return f"{sign}0.{'0' * -point}{digits}"
    power = point - 1
    rest = f".{digits[1:]}" if count > 1 else ""
    return f"{sign}{digits[0]}{rest}e{'+' if power > 0 else '-'}{abs(power)}"

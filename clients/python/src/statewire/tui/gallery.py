# SPDX-License-Identifier: Apache-2.0
"""The names and configurations of the loaders. The page shows the same ones."""

from __future__ import annotations

from typing import Any


def _loading(percent: int | None, message: str | None = None) -> dict[str, Any]:
    return {"type": "loading", "progress": {"percent": percent, "message": message, "isCancelled": False}}


def _steps(after: float, percents: list[int], value: str) -> dict[str, Any]:
    shown = [*map(_loading, percents), {"type": "loaded", "value": value}]
    return {"type": "mock", "states": [{"after": after, "state": state} for state in shown]}


_FAILING = {
    "type": "mock",
    "states": [
        {"state": _loading(None, "Requesting…")},
        {"after": 1, "state": {
            "type": "failure", "error": {"code": "source.failed", "message": "The source did not respond"}}},
    ],
}

GALLERY: list[tuple[str, dict[str, Any]]] = [
    ("Download", _steps(0.4, [0, 7, 18, 34, 52, 71, 88, 96], "4.2 MB")),
    ("Retried", {
        "type": "retry", "maxAttempts": 3, "backoff": {"type": "exponential", "base": 2}, "of": _FAILING}),
    ("Time limit", {"type": "timeout", "interval": 2, "of": _steps(3, [20], "late")}),
    ("Cached", {
        "type": "cache", "key": "cached", "ttl": 30, "of": _steps(0.5, [25, 50, 75], "from the source")}),
    ("In parallel", {"type": "all", "of": [
        _steps(0.5, [0, 50], "fast"), _steps(0.8, [0, 30, 60], "steady"),
        _steps(1, [0, 20, 40, 60, 80], "slow")]}),
    ("Debounced", {"type": "debounce", "interval": 0.8, "of": _steps(0.5, [40], "latest result")}),
]


def store_name(name: str) -> str:
    """Returns the store name of a loader in the session."""
    return f"loader-{name.lower().replace(' ', '-')}"

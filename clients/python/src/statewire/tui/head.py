# SPDX-License-Identifier: Apache-2.0
"""The header: the name, the state of the connection, and the number of participants."""

from __future__ import annotations

from typing import ClassVar

from rich.style import Style
from rich.text import Text
from textual.widget import Widget

from ..client import Status
from ..printing import printable


class Head(Widget):
    """One line. The rule in its middle is solid while connected and dashed otherwise."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "head--name", "head--rule", "head--good", "head--wait", "head--soft"}

    def __init__(self) -> None:
        super().__init__(id="head")
        self.status: Status = "connecting"
        # The reason for the state, or None.
        self.reason: str | None = None
        self.here = 1

    def show(self, status: Status, reason: str | None = None) -> None:
        self.status, self.reason = status, reason
        self.refresh()

    def render(self) -> Text:
        def style(name: str) -> Style:
            return self.get_component_rich_style(f"head--{name}", partial=True)

        name = Text.assemble((" ≈ ", style("good")), ("Statewire ", style("name")))
        if self.status == "connected":
            state = Text.assemble((" ● ", style("good")), ("Connected", style("soft")))
            if self.here > 1:
                state.append(f" · {self.here} online", style("soft"))
        else:
            text = {
                "connecting": "Connecting…",
                "reconnecting": "Connection lost, reconnecting…",
                "closed": "The session has ended",
            }[self.status]
            if self.reason:
                text = printable(self.reason)
            state = Text.assemble((" ○ ", style("wait")), (text, style("wait")))
        state.append(" ")
        width = max(0, self.size.width - name.cell_len - state.cell_len)
        is_connected = self.status == "connected"
        rule = Text("─" * width, style("rule")) if is_connected else Text("╌" * width, style("wait"))
        return Text.assemble(name, rule, state, no_wrap=True)

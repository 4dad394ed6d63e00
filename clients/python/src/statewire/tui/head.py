# SPDX-License-Identifier: Apache-2.0
"""The head line: the name, the wire to the server, how the connection is, who else is here."""

from __future__ import annotations

from typing import ClassVar

from rich.style import Style
from rich.text import Text
from textual.widget import Widget

from ..client import Status
from ..printable import visible


class Head(Widget):
    """One line. The wire is whole while there is a connection."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "head--name", "head--wire", "head--good", "head--wait", "head--soft"}

    def __init__(self) -> None:
        super().__init__(id="head")
        self.status: Status = "connecting"
        # Why it is so, where the server has said that.
        self.reason: str | None = None
        self.here = 1

    def show(self, status: Status, reason: str | None = None) -> None:
        self.status, self.reason = status, reason
        self.refresh()

    def render(self) -> Text:
        def style(name: str) -> Style:
            return self.get_component_rich_style(f"head--{name}", partial=True)

        name = Text.assemble((" ≈ ", style("good")), ("Statewire ", style("name")))
        if self.status == "open":
            state = Text.assemble((" ● ", style("good")), ("Connected", style("soft")))
            if self.here > 1:
                state.append(f" · {self.here} here", style("soft"))
        else:
            says = {
                "connecting": "Connecting…",
                "waiting": "Connection lost, trying again…",
                "closed": "The session is over",
            }[self.status]
            if self.reason:
                says = visible(self.reason)
            state = Text.assemble((" ○ ", style("wait")), (says, style("wait")))
        state.append(" ")
        room = max(0, self.size.width - name.cell_len - state.cell_len)
        wire = Text("─" * room, style("wire")) if self.status == "open" else Text("╌" * room, style("wait"))
        return Text.assemble(name, wire, state, no_wrap=True)

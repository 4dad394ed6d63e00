# SPDX-License-Identifier: Apache-2.0
"""The loader panel: several stores of the kind `loading`, one line each."""

from __future__ import annotations

from typing import ClassVar

from rich.style import Style
from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.timer import Timer
from textual.widget import Widget

from ..client import Client
from ..kinds import LOADING
from ..printing import printable
from ..store import Store
from ..types import LoadingInput, LoadingViewState
from .gallery import GALLERY, store_name
from .panel import Panel, follow, plain

_SPINNER = "◐◓◑◒"
_NAME, _BAR, _HOW = 13, 14, 8


def is_loading(state: LoadingViewState | None) -> bool:
    """Returns True while a load is in progress."""
    if state is None or state["type"] != "loading":
        return False
    return not (state["progress"] and state["progress"]["isCancelled"])


def description(state: LoadingViewState | None) -> str:
    """Describes a state."""
    if state is None or state["type"] == "idle":
        return "Not loaded yet"
    if state["type"] == "loaded":
        value = state["value"]
        return "Loaded: " + (", ".join(map(str, value)) if isinstance(value, list) else str(value))
    if state["type"] == "failure":
        return f"Error: {state['error']['message']}"
    progress = state["progress"]
    if progress and progress["isCancelled"]:
        return "Cancelled. Press x to reset."
    return (progress and progress["message"]) or "Loading…"


class LoaderLine(Widget):
    """One loader: its name, progress and outcome."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "loader--name", "loader--soft", "loader--bar", "loader--rest", "loader--good", "loader--bad",
        "loader--wait", "loader--mark"}

    def __init__(self, name: str) -> None:
        super().__init__(id=store_name(name))
        self.title = name
        self.state: LoadingViewState | None = None
        self.store: Store[LoadingInput, LoadingViewState] | None = None
        self.tick = 0

    def show(self, state: LoadingViewState) -> None:
        self.state = state
        self.refresh()

    def render(self) -> Text:
        def style(name: str) -> Style:
            return self.get_component_rich_style(f"loader--{name}", partial=True)

        state, text = self.state, Text(no_wrap=True, overflow="ellipsis")
        text.append("▌" if self.has_class("selected") else " ", style("mark"))
        text.append(self.title.ljust(_NAME), style("name"))
        if state is None or state["type"] == "idle":
            text.append("─" * _BAR, style("rest"))
        elif state["type"] == "loaded":
            text.append("━" * _BAR, style("good"))
            text.append("✓".rjust(_HOW), style("good"))
        elif state["type"] == "failure":
            text.append("━" * _BAR, style("bad"))
            text.append("✗".rjust(_HOW), style("bad"))
        elif not is_loading(state):
            text.append("┄" * _BAR, style("soft"))
            text.append("stopped".rjust(_HOW), style("soft"))
        else:
            progress = state["progress"]
            percent = progress["percent"] if progress else None
            message = progress["message"] if progress else None
            if percent is not None:
                filled = round(percent / 100 * _BAR * 2)
                text.append("━" * (filled // 2), style("bar"))
                text.append("╸" * (filled % 2), style("bar"))
                text.append("─" * (_BAR - filled // 2 - filled % 2), style("rest"))
                text.append(f"{percent:.0f}%".rjust(_HOW), style("bar"))
            else:
                at = self.tick % (_BAR + 4) - 4
                for cell in range(_BAR):
                    is_lit = at <= cell < at + 4
                    text.append("━" if is_lit else "─", style("wait" if is_lit else "rest"))
                short = printable(_attempt(message)) or _SPINNER[self.tick // 2 % len(_SPINNER)]
                text.append(short.rjust(_HOW), style("wait"))
        return text


def _attempt(message: str | None) -> str:
    """Extracts `2/3` from a message with the number of attempts."""
    if message is None or "(attempt " not in message:
        return ""
    return message.split("(attempt ", 1)[1].split(")", 1)[0].replace(" of ", "/")


class LoaderPanel(Panel, can_focus=True):
    """All loaders. Keys apply to the selected one."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "select(-1)", show=False),
        Binding("down,j", "select(1)", show=False),
        Binding("enter,space,l", "load", "Load", key_display="↵"),
        Binding("c", "cancel", "Cancel"),
        Binding("x", "reset", "Reset"),
    ]

    def __init__(self) -> None:
        super().__init__("Loaders", "4", id="loaders")
        self._selected = 0
        self._timer: Timer | None = None

    def compose(self) -> ComposeResult:
        for name, _ in GALLERY:
            yield LoaderLine(name)

    def on_mount(self) -> None:
        self._timer = self.set_interval(1 / 10, self._tick, pause=True)
        self.action_select(0)

    @property
    def lines(self) -> list[LoaderLine]:
        return list(self.query(LoaderLine))

    @property
    def current(self) -> LoaderLine:
        """The selected loader."""
        return self.lines[self._selected]

    async def follow(self, client: Client) -> None:
        """Subscribes to all loaders."""
        for line, (_, config) in zip(self.lines, GALLERY, strict=True):
            self.run_worker(self._follow(client, line, config), group="stores")

    async def _follow(self, client: Client, line: LoaderLine, config: dict[str, object]) -> None:
        def opened(store: Store[LoadingInput, LoadingViewState]) -> None:
            line.store = store

        def show(state: LoadingViewState) -> None:
            line.show(state)
            self._show_selected()

        await follow(client, LOADING, line.id, config, opened, show)

    def _tick(self) -> None:
        for line in self.lines:
            if is_loading(line.state):
                line.tick += 1
                line.refresh()

    def _show_selected(self) -> None:
        active = [line for line in self.lines if is_loading(line.state)]
        if self._timer:
            (self._timer.resume if active else self._timer.pause)()
        state = self.current.state
        self.show_text(description(state), state is not None and state["type"] == "failure")

    def show_text(self, text: str, is_problem: bool = False) -> None:
        """Shows a text about the selected loader at the bottom of the panel."""
        self.border_subtitle = plain(text, "$error" if is_problem else "$soft")

    def on_click(self, event: events.Click) -> None:
        for place, line in enumerate(self.lines):
            if event.widget is line:
                self.action_select(place - self._selected)

    def action_select(self, by: int) -> None:
        self._selected = (self._selected + by) % len(self.lines)
        for place, line in enumerate(self.lines):
            line.set_class(place == self._selected, "selected")
            line.refresh()
        self._show_selected()

    def action_load(self) -> None:
        self._send({"type": "load"})

    def action_cancel(self) -> None:
        self._send({"type": "cancel"})

    def action_reset(self) -> None:
        self._send({"type": "reset"})

    def _send(self, input: LoadingInput) -> None:
        self._report_result(self.post(self.current.store, input, self._report_result))

    def _report_result(self, problem: str | None) -> None:
        if problem:
            self.show_text(problem, is_problem=True)

# SPDX-License-Identifier: Apache-2.0
"""The application: the built-in stores of one session, and the state of the connection."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import ClassVar, Literal

from textual import events
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.theme import Theme
from textual.widgets import Footer, Static

from ..client import Client
from ..errors import SessionEndedError, StatewireError
from ..printing import printable
from .balance import BalancePanel
from .form import FormPanel
from .head import Head
from .line import Line
from .loaders import LoaderPanel
from .panel import Panel, plain, reason
from .rows import TodoList
from .todos import TodoPanel

# The colours of the page, dark and light.
_DARK = Theme(
    name="statewire", dark=True, primary="#5cd0b1", secondary="#9aaba2", accent="#5cd0b1", warning="#f0b45c",
    error="#ff9186", success="#5cd0b1", foreground="#e7eee9", background="#0e1412", surface="#161e1b",
    panel="#1b332c",
    variables={"line": "#34423c", "soft": "#9aaba2", "faint": "#64766d", "wash": "#1b332c"},
)
_LIGHT = Theme(
    name="statewire-light", dark=False, primary="#0f6a5a", secondary="#55635c", accent="#0f6a5a",
    warning="#8f5600", error="#b0261c", success="#0f6a5a", foreground="#18211d", background="#f1f3ee",
    surface="#fcfdfb", panel="#e0eee9",
    variables={"line": "#c9d1c6", "soft": "#55635c", "faint": "#87948b", "wash": "#e0eee9"},
)

_ENDED = {
    "evicted": "Disconnected: another client uses this frontend name",
    "closed": "The session was closed",
    "lost": "The session has expired",
    "clientClosed": "Disconnected",
}


class Sharing(ModalScreen[None]):
    """A dialog that shows how other clients join the session."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,s,enter,q", "dismiss", "Close")]

    def __init__(self, client: Client) -> None:
        super().__init__()
        self._client = client

    def compose(self) -> ComposeResult:
        address = self._client.address
        with Vertical(id="sharing"):
            yield Static("This session", classes="title")
            yield Static(plain(self._client.session or "Not connected yet"), id="handle")
            if isinstance(address, str):
                yield Static("To join from another terminal:", classes="soft")
                yield Static(Content(
                    f"statewire-tui --connect {printable(address)} \\\n"
                    f"  --session {printable(self._client.session)}"), id="command")
            else:
                yield Static("This terminal runs its own server. Other clients cannot join.", classes="soft")
            yield Static("Esc: close", classes="soft last")

    async def action_dismiss(self, result: None = None) -> None:
        self.dismiss()


class Leaving(ModalScreen[None]):
    """A dialog that lists unsaved work before the program ends. It closes when everything is saved."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss", "Go back"),
        Binding("q", "app.quit", "Quit anyway"),
    ]

    def __init__(self, panels: list[Panel]) -> None:
        super().__init__()
        self._panels = panels

    def compose(self) -> ComposeResult:
        with Vertical(id="sharing"):
            yield Static("Unsaved changes", classes="title")
            yield Static(id="unsaved")
            yield Static("Esc: go back · q: quit and discard them", classes="soft last")

    def on_mount(self) -> None:
        self._look()
        self.set_interval(1 / 20, self._look)

    @staticmethod
    def unsaved(panels: list[Panel]) -> list[str]:
        """Lists the unsaved work, one line each."""
        lines = [text for panel in panels for text in panel.unsaved()]
        waiting = sum(panel.pending_count for panel in panels)
        if waiting:
            lines.append(f"{waiting} {'change' if waiting == 1 else 'changes'} not sent yet")
        return lines

    def _look(self) -> None:
        lines = self.unsaved(self._panels)
        if not lines:
            self.app.exit()
        shown = [printable(line)[:50] for line in lines[-8:]]
        self.query_one("#unsaved", Static).update(Content("\n".join(shown)))

    async def action_dismiss(self, result: None = None) -> None:
        self.dismiss()


class StatewireApp(App[None]):
    """The terminal program."""

    CSS_PATH = "style.tcss"
    TITLE = "Statewire"
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (64, "-wide")]  # noqa: RUF012
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("1", "go('todo')", show=False),
        Binding("2", "go('balance')", show=False),
        Binding("3", "go('form')", show=False),
        Binding("4", "go('loaders')", show=False),
        Binding("tab", "app.focus_next", "Next", key_display="⇥"),
        Binding("s", "share", "Share"),
        Binding("t", "theme", "Light", show=False),
        Binding("q", "quit", "Quit"),
        Binding("ctrl+q,ctrl+c", "quit", show=False, priority=True),
    ]

    def __init__(self, make_client: Callable[[], Client]) -> None:
        """
        - Parameters:
          - make_client: Makes a client that retries the initial connection. Called in the event loop.
        """
        super().__init__()
        self._make_client = make_client
        self._client: Client | None = None
        self.register_theme(_DARK)
        self.register_theme(_LIGHT)
        self.theme = _DARK.name

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return dict(_DARK.variables)

    def compose(self) -> ComposeResult:
        yield Head()
        with Horizontal(id="body"):
            yield TodoPanel()
            with Vertical(id="right"):
                yield BalancePanel()
                yield FormPanel()
                yield LoaderPanel()
        yield Footer(compact=True)

    async def on_mount(self) -> None:
        self.query_one(TodoList).focus()
        self._client = client = self._make_client()
        self.run_worker(self._watch_connection(client), group="client")
        self.run_worker(self._connect(client), group="client")
        self.run_worker(self._watch_presence(client), group="client")
        for panel in self.query(Panel):
            self.run_worker(self._follow(panel, client), group="client")

    async def on_unmount(self) -> None:
        if self._client is not None:
            await self._client.close()

    # The connection

    async def _connect(self, client: Client) -> None:
        head = self.query_one(Head)
        try:
            await client.connect()
        except StatewireError as error:
            head.show("closed", reason(error))

    async def _watch_connection(self, client: Client) -> None:
        head = self.query_one(Head)
        async for status in client.statuses():
            refusal = client.refusal
            head.show(status, f"Reconnecting: {reason(refusal)}" if refusal else None)
        if isinstance(client.close_reason, SessionEndedError):
            head.show("closed", _ENDED.get(client.close_reason.reason))
        elif client.close_reason is not None:
            head.show("closed", reason(client.close_reason))

    async def _watch_presence(self, client: Client) -> None:
        head = self.query_one(Head)
        notifications = client.notifications()
        with contextlib.suppress(StatewireError):
            head.here = len((await client.session_info()).get("frontends", [1]))
            head.refresh()
        async for notification in notifications:
            if notification.method == "session/presence":
                head.here = notification.params.get("attached", 1)
                head.refresh()

    async def _follow(self, panel: Panel, client: Client) -> None:
        try:
            await panel.follow(client)
        except StatewireError as error:
            self.notify(reason(error), severity="error", timeout=10, markup=False)

    # Focus of the terminal

    async def on_app_blur(self) -> None:
        self._set_phase("inactive")

    async def on_app_focus(self) -> None:
        self._set_phase("active")

    def _set_phase(self, phase: Literal["active", "inactive"]) -> None:
        async def set_phase(client: Client) -> None:
            with contextlib.suppress(StatewireError):
                await client.set_phase(phase)

        if self._client is not None:
            self.run_worker(set_phase(self._client), group="phase")

    # Keys

    async def on_event(self, event: events.Event) -> None:
        """Handles the binding of a key before the next key is dispatched.

        Textual sends a key to the focused widget first and looks up bindings when the key has bubbled back.
        Keys that are typed after it would reach the old focus. A text field handles its keys from its own
        queue, after pending text, and looks up bindings there.
        """
        is_key = isinstance(event, events.Key) and not event.is_forwarded
        if is_key and not isinstance(self.focused, Line):
            assert isinstance(event, events.Key)
            for priority in (True, False):
                if await self._check_bindings(event.key, priority):
                    return
        await super().on_event(event)

    def action_go(self, place: str) -> None:
        target = {"todo": "#todo TodoList", "balance": "#balance", "form": "#first", "loaders": "#loaders"}
        self.screen.set_focus(self.query_one(target[place]))

    def action_share(self) -> None:
        if self._client is not None:
            self.push_screen(Sharing(self._client))

    async def action_quit(self) -> None:
        if isinstance(self.screen, Leaving):
            self.exit()
            return
        panels = list(self.screen_stack[0].query(Panel))
        if Leaving.unsaved(panels):
            self.push_screen(Leaving(panels))
        else:
            self.exit()

    def action_theme(self) -> None:
        self.theme = _LIGHT.name if self.theme == _DARK.name else _DARK.name

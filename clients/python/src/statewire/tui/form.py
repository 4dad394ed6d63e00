# SPDX-License-Identifier: Apache-2.0
"""The form panel. It sends each change of an entry, and shows the validation messages of the server."""

from __future__ import annotations

import textwrap
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.widgets import Button, Input, Label, Static

from ..client import Client
from ..kinds import FORM
from ..printing import printable
from ..store import Store
from ..types import FormInput, FormViewState
from .line import Line
from .panel import Panel, follow, plain

# Width of a message, in columns.
_WIDTH = 36


class FormPanel(Panel):
    """A passphrase and its repetition."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "submit", "Save", key_display="↵"),
        Binding("ctrl+t", "reveal", "Show", key_display="^t"),
        Binding("escape", "leave", "Back", key_display="Esc"),
    ]

    def __init__(self) -> None:
        super().__init__("Passphrase", "3", id="form")
        self._client: Client | None = None
        self._store: Store[FormInput, FormViewState] | None = None
        # The text of each entry at the server. The field may have a newer text, or one that was refused.
        self._known = {"first": "", "second": ""}
        # The reason why the server has refused the text of an entry.
        self._refusal = ""
        self._reconnects: int | None = None
        self._state: FormViewState | None = None

    def compose(self) -> ComposeResult:
        with Horizontal(classes="entry"):
            yield Label("Passphrase")
            yield Entry(self, "first")
        with Horizontal(classes="entry"):
            yield Label("Repeat")
            yield Entry(self, "second")
        yield Static(id="messages")
        with Horizontal(id="submitting"):
            yield Button("Save", id="submit", compact=True, disabled=True)
            yield Static(id="submitted")

    @property
    def _entries(self) -> tuple[Entry, Entry]:
        return self.query_one("#first", Entry), self.query_one("#second", Entry)

    @property
    def _typed(self) -> list[Entry]:
        """The entries whose text the server does not have."""
        return [entry for entry in self._entries if entry.value != self._known[entry.place]]

    def unsaved(self) -> list[str]:
        # Pending inputs are counted separately.
        return [] if self.pending_count else ["the passphrase form"] * len(self._typed)

    async def follow(self, client: Client) -> None:
        """Subscribes to the form."""
        self._client = client

        def opened(store: Store[FormInput, FormViewState]) -> None:
            self._store = store
            self.run_worker(self._follow_events(store), group="events", exclusive=True)

        await follow(client, FORM, None, None, opened, self.show)

    async def _follow_events(self, store: Store[FormInput, FormViewState]) -> None:
        async for event in store.events():
            if event.get("type") == "submitted":
                self._show_text("✓ Saved")

    def show(self, state: FormViewState) -> None:
        self._state = state
        self._keep_typed_texts(state)
        self._take_over(state)
        messages = "\n".join(
            textwrap.fill(printable(message), _WIDTH, initial_indent="· ", subsequent_indent="  ")
            for message in state["validationMessages"])
        is_untouched = not state["firstEntry"] and not state["secondEntry"]
        shown = self.query_one("#messages", Static)
        shown.update(Content(messages))
        shown.set_class(is_untouched, "untouched")
        self.query_one("#submit", Button).disabled = not state["submitAllowed"]
        if not state["submitAllowed"] or self._refusal:
            self._show_text(self._refusal, is_problem=True)

    def _keep_typed_texts(self, state: FormViewState) -> None:
        """Sends texts that were typed while disconnected, and all texts again after a restart of the server:
        it does not persist entries."""
        client = self._client
        if client is None or client.reconnects == self._reconnects:
            return
        self._reconnects = client.reconnects
        texts = [entry.value for entry in self._entries]
        is_forgotten = not state["firstEntry"] and not state["secondEntry"] and any(texts)
        if is_forgotten or (self._typed and not self.pending_count):
            known = [state["firstEntry"], state["secondEntry"]]
            first, second = (
                entry.value if is_forgotten or entry in self._typed else text
                for entry, text in zip(self._entries, known, strict=True))
            self._send(
                {"type": "entriesChanged", "firstEntry": first, "secondEntry": second},
                {"first": first, "second": second})

    def _take_over(self, state: FormViewState) -> None:
        """Shows texts of other clients, unless a text of this client is pending or refused."""
        if self.pending_count:
            return
        for entry, value in zip(self._entries, (state["firstEntry"], state["secondEntry"]), strict=True):
            if entry.value == self._known[entry.place] != value:
                self._known[entry.place] = value
                with self.prevent(Input.Changed):
                    entry.value = value

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        assert isinstance(event.input, Entry)
        place = event.input.place
        if place == "first":
            self._send({"type": "firstEntryChanged", "value": event.value}, {place: event.value})
        else:
            self._send({"type": "secondEntryChanged", "value": event.value}, {place: event.value})

    def submit(self, entry: Entry) -> None:
        """Handles Enter in an entry."""
        first, second = self._entries
        if entry is first:
            self.screen.set_focus(second)
        else:
            self.action_submit()

    def on_button_pressed(self, event: Button.Pressed) -> None:
        event.stop()
        self.action_submit()

    def action_submit(self) -> None:
        if self._refusal:
            # The server does not have the texts of the fields.
            self._show_text(self._refusal, is_problem=True)
        else:
            self._send({"type": "submitTapped"}, {})

    def action_leave(self) -> None:
        self.screen.set_focus(None)

    def action_reveal(self) -> None:
        for entry in self._entries:
            entry.password = not entry.password

    def _show_text(self, text: str, is_problem: bool = False) -> None:
        line = self.query_one("#submitted", Static)
        line.update(plain(text))
        line.set_class(is_problem, "problem")

    def _send(self, input: FormInput, entries: dict[str, str]) -> None:
        """Sends an input. `entries` are the texts that the server has when it is accepted."""

        def ended(problem: str | None) -> None:
            if problem:
                self._refusal = problem if entries else self._refusal
                self._show_text(problem, is_problem=True)
                return
            self._known.update(entries)
            if entries and self._refusal and not self._typed:
                self._refusal = ""
                self._show_text("")
            if self._state is not None:
                self._take_over(self._state)

        problem = self.post(self._store, input, ended)
        if problem and self._store is not None:
            ended(problem)
        elif problem:
            self._show_text(problem, is_problem=True)  # It is sent when the client is connected.


class Entry(Line):
    """One entry of the form."""

    def __init__(self, panel: FormPanel, place: str) -> None:
        super().__init__(password=True, id=place)
        self.place = place
        self._panel = panel

    def submit(self) -> None:
        self._panel.submit(self)

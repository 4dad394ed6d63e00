# SPDX-License-Identifier: Apache-2.0
"""The form: what is typed goes to the server with each key, and its messages come back."""

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
from ..printable import visible
from ..store import Store
from ..types import FormInput, FormViewState
from .line import Line
from .panel import Panel, follow, plain

# Columns for a message.
_WIDTH = 36


class FormPanel(Panel):
    """Two entries that have to match."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "submit", "Set it", key_display="↵"),
        Binding("ctrl+t", "reveal", "Show the text", key_display="^t"),
        Binding("escape", "leave", "Leave", key_display="Esc"),
    ]

    def __init__(self) -> None:
        super().__init__("A passphrase", "3", id="form")
        self._client: Client | None = None
        self._store: Store[FormInput, FormViewState] | None = None
        # The text of each entry that the server has. Another one in the entry was typed since, or refused.
        self._known = {"first": "", "second": ""}
        # Why the server has refused what stands in an entry.
        self._refusal = ""
        self._resumes: int | None = None
        self._state: FormViewState | None = None

    def compose(self) -> ComposeResult:
        with Horizontal(classes="entry"):
            yield Label("Passphrase")
            yield Entry(self, "first")
        with Horizontal(classes="entry"):
            yield Label("Once more")
            yield Entry(self, "second")
        yield Static(id="messages")
        with Horizontal(id="submitting"):
            yield Button("Set it", id="submit", compact=True, disabled=True)
            yield Static(id="submitted")

    @property
    def _entries(self) -> tuple[Entry, Entry]:
        return self.query_one("#first", Entry), self.query_one("#second", Entry)

    @property
    def _typed(self) -> list[Entry]:
        """The entries whose text the server does not have."""
        return [entry for entry in self._entries if entry.value != self._known[entry.place]]

    def unsaved(self) -> list[str]:
        # What is on its way is counted there.
        return [] if self.unanswered else ["an entry of the form"] * len(self._typed)

    async def follow(self, client: Client) -> None:
        """Shows the form as it is and changes."""
        self._client = client

        def opened(store: Store[FormInput, FormViewState]) -> None:
            self._store = store
            self.run_worker(self._hear(store), group="events", exclusive=True)

        await follow(client, FORM, None, None, opened, self.show)

    async def _hear(self, store: Store[FormInput, FormViewState]) -> None:
        async for event in store.events():
            if event.get("type") == "submitted":
                self._say("✓ It is set")

    def show(self, state: FormViewState) -> None:
        self._state = state
        self._keep_what_was_typed(state)
        self._take_over(state)
        messages = "\n".join(
            textwrap.fill(visible(message), _WIDTH, initial_indent="· ", subsequent_indent="  ")
            for message in state["validationMessages"])
        is_untouched = not state["firstEntry"] and not state["secondEntry"]
        shown = self.query_one("#messages", Static)
        shown.update(Content(messages))
        shown.set_class(is_untouched, "untouched")
        self.query_one("#submit", Button).disabled = not state["submitAllowed"]
        if not state["submitAllowed"] or self._refusal:
            self._say(self._refusal, is_problem=True)

    def _keep_what_was_typed(self, state: FormViewState) -> None:
        """Sends what was typed before there was a connection, or what a server that was killed has forgotten:
        entries are never persisted."""
        client = self._client
        if client is None or client.resumes == self._resumes:
            return
        self._resumes = client.resumes
        texts = [entry.value for entry in self._entries]
        is_forgotten = not state["firstEntry"] and not state["secondEntry"] and any(texts)
        if is_forgotten or (self._typed and not self.unanswered):
            told = [state["firstEntry"], state["secondEntry"]]
            first, second = (
                entry.value if is_forgotten or entry in self._typed else text
                for entry, text in zip(self._entries, told, strict=True))
            self._send(
                {"type": "entriesChanged", "firstEntry": first, "secondEntry": second},
                {"first": first, "second": second})

    def _take_over(self, state: FormViewState) -> None:
        """What somebody else has typed. What was typed here and is not accepted stays."""
        if self.unanswered:
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
        """Enter was pressed in an entry."""
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
            # The server has other texts than those that stand here.
            self._say(self._refusal, is_problem=True)
        else:
            self._send({"type": "submitTapped"}, {})

    def action_leave(self) -> None:
        self.screen.set_focus(None)

    def action_reveal(self) -> None:
        for entry in self._entries:
            entry.password = not entry.password

    def _say(self, text: str, is_problem: bool = False) -> None:
        line = self.query_one("#submitted", Static)
        line.update(plain(text))
        line.set_class(is_problem, "problem")

    def _send(self, input: FormInput, entries: dict[str, str]) -> None:
        """Sends an input. Once it is accepted, the server has these texts."""

        def ended(problem: str | None) -> None:
            if problem:
                self._refusal = problem if entries else self._refusal
                self._say(problem, is_problem=True)
                return
            self._known.update(entries)
            if entries and self._refusal and not self._typed:
                self._refusal = ""
                self._say("")
            if self._state is not None:
                self._take_over(self._state)

        problem = self.post(self._store, input, ended)
        if problem and self._store is not None:
            ended(problem)
        elif problem:
            self._say(problem, is_problem=True)  # It is sent once there is a connection.


class Entry(Line):
    """One entry of the form."""

    def __init__(self, panel: FormPanel, place: str) -> None:
        super().__init__(password=True, id=place)
        self.place = place
        self._panel = panel

    def submit(self) -> None:
        self._panel.submit(self)

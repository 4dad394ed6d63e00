# SPDX-License-Identifier: Apache-2.0
"""The form: what is typed goes to the server with each key, and its messages come back."""

from __future__ import annotations

import textwrap
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.widgets import Button, Input, Label, Static

from ..client import Client
from ..errors import StatewireError
from ..kinds import FORM
from ..store import Store
from ..types import FormInput, FormViewState
from .panel import Panel, follow, reason

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
        # Inputs that are not answered yet: until they are, what stands here counts.
        self._unanswered = 0
        # What the server knows of each entry. What stands here and is another text, was typed since.
        self._known = {"first": "", "second": ""}
        self._resumes = 0
        self._state: FormViewState | None = None

    def compose(self) -> ComposeResult:
        with Horizontal(classes="entry"):
            yield Label("Passphrase")
            yield Input(password=True, compact=True, id="first")
        with Horizontal(classes="entry"):
            yield Label("Once more")
            yield Input(password=True, compact=True, id="second")
        yield Static(id="messages")
        with Horizontal(id="submitting"):
            yield Button("Set it", id="submit", compact=True, disabled=True)
            yield Static(id="submitted")

    @property
    def _entries(self) -> tuple[Input, Input]:
        return self.query_one("#first", Input), self.query_one("#second", Input)

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
                self.query_one("#submitted", Static).update("✓ It is set")

    def show(self, state: FormViewState) -> None:
        self._state = state
        self._keep_what_was_typed(state)
        self._take_over(state)
        messages = "\n".join(
            textwrap.fill(message, _WIDTH, initial_indent="· ", subsequent_indent="  ")
            for message in state["validationMessages"])
        is_untouched = not state["firstEntry"] and not state["secondEntry"]
        shown = self.query_one("#messages", Static)
        shown.update(messages)
        shown.set_class(is_untouched, "untouched")
        self.query_one("#submit", Button).disabled = not state["submitAllowed"]
        if not state["submitAllowed"]:
            self.query_one("#submitted", Static).update("")

    def _keep_what_was_typed(self, state: FormViewState) -> None:
        """A server that was killed has forgotten the entries, which are never written down."""
        client = self._client
        if client is None or client.resumes == self._resumes:
            return
        self._resumes = client.resumes
        first, second = self._entries
        if not state["firstEntry"] and not state["secondEntry"] and (first.value or second.value):
            self._send({
                "type": "entriesChanged", "firstEntry": first.value, "secondEntry": second.value})

    def _take_over(self, state: FormViewState) -> None:
        """What somebody else has typed."""
        if self._unanswered:
            return
        for entry, value in zip(self._entries, (state["firstEntry"], state["secondEntry"]), strict=True):
            if entry.value == self._known[entry.id or ""] != value:
                self._known[entry.id or ""] = value
                with self.prevent(Input.Changed):
                    entry.value = value

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        if self._known[event.input.id or ""] == event.value:
            return
        self._known[event.input.id or ""] = event.value
        if event.input.id == "first":
            self._send({"type": "firstEntryChanged", "value": event.value})
        else:
            self._send({"type": "secondEntryChanged", "value": event.value})

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        first, second = self._entries
        if event.input is first:
            second.focus()
        else:
            self._send({"type": "submitTapped"})

    def on_button_pressed(self, event: Button.Pressed) -> None:
        event.stop()
        self._send({"type": "submitTapped"})

    def action_submit(self) -> None:
        self._send({"type": "submitTapped"})

    def action_leave(self) -> None:
        self.screen.set_focus(None)

    def action_reveal(self) -> None:
        for entry in self._entries:
            entry.password = not entry.password

    def _send(self, input: FormInput) -> None:
        store = self._store
        if store is None:
            return
        self._unanswered += 1

        async def send() -> None:
            try:
                await store.send(input)
            except StatewireError as error:
                self.query_one("#submitted", Static).update(reason(error))
            finally:
                self._unanswered -= 1
            if self._state is not None:
                self._take_over(self._state)

        self.run_worker(send(), group="inputs")

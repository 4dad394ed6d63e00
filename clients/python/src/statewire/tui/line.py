# SPDX-License-Identifier: Apache-2.0
"""A text field that shows control characters safely and keeps the text unchanged."""

from __future__ import annotations

from typing import Any

from rich.cells import cell_len, get_character_cell_size
from rich.text import Text
from textual import events
from textual.widgets import Input

from ..printing import printable


class Line(Input):
    """A one-line text field. Each character of the text, also a line end, is shown as one character.

    Keys take effect in the order in which they are typed; see `StatewireApp.on_event`.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(compact=True, select_on_focus=False, **options)

    def submit(self) -> None:
        """Handles Enter."""

    async def action_submit(self) -> None:
        self.submit()

    def put(self, text: str) -> None:
        """Replaces the text and moves the cursor to its end."""
        self.value = text
        self.cursor_position = len(text)

    # Keys

    async def _on_key(self, event: events.Key) -> None:
        if self.screen.focused is not self:
            # An earlier key has moved the focus: the new focus gets this key.
            event.stop()
            event.prevent_default()
            self.app.post_message(events.Key(event.key, event.character))
        elif not event.is_printable:
            event.stop()
            event.prevent_default()
            await self.app._check_bindings(event.key)

    def _on_paste(self, event: events.Paste) -> None:
        event.stop()
        event.prevent_default()
        text = event.text.replace("\r\n", "\n").replace("\r", "\n")
        # The line end after the copied text is not a part of it.
        self.replace(text.removesuffix("\n"), *sorted(self.selection))

    # Display

    @property
    def _shown(self) -> str:
        return "•" * len(self.value) if self.password else printable(self.value)

    @property
    def _value(self) -> Text:
        return Text(self._shown, no_wrap=True, overflow="ignore", end="")

    def _position_to_cell(self, position: int) -> int:
        return cell_len(self._shown[:position])

    def _cell_offset_to_index(self, offset: int) -> int:
        cells = self.scroll_offset.x + offset
        for index, character in enumerate(self._shown):
            cells -= get_character_cell_size(character)
            if cells < 0:
                return index
        return len(self.value)

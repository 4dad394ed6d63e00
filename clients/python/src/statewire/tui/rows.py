# SPDX-License-Identifier: Apache-2.0
"""The rows of the todo list."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Region, Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from ..printing import printable
from ..types import Todo

if TYPE_CHECKING:
    from .todos import TodoPanel


class TodoList(ScrollView, can_focus=True):
    """The rows. Only visible rows are drawn."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "todo--open", "todo--done", "todo--mark", "todo--selected", "todo--empty", "todo--sending"}
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "select(-1)", show=False),
        Binding("down", "select(1)", show=False),
        Binding("k", "select(-1)", show=False),
        Binding("j", "select(1)", show=False),
        Binding("pageup", "select(-10)", show=False),
        Binding("pagedown", "select(10)", show=False),
        Binding("home", "select(-1000000)", show=False),
        Binding("end", "select(1000000)", show=False),
        Binding("a", "add", "Add"),
        Binding("space", "complete", "Done", key_display="Space"),
        Binding("r,enter,f2", "rename", "Rename", key_display="r"),
        Binding("shift+up,K", "move(-1)", "Up", key_display="⇧↑"),
        Binding("shift+down,J", "move(1)", "Down", key_display="⇧↓"),
        Binding("d,delete", "remove", "Remove", key_display="d"),
        Binding("g", "load", "Reload"),
    ]

    def __init__(self, panel: TodoPanel) -> None:
        super().__init__()
        self._panel = panel
        self.todos: list[Todo] = []
        self.selected = 0
        self._selected_id = ""

    @property
    def current(self) -> Todo | None:
        """The selected todo."""
        return self.todos[self.selected] if self.selected < len(self.todos) else None

    def show(self, todos: list[Todo]) -> None:
        """Shows todos. The selection stays on its todo, or at its position if the todo was removed."""
        self.todos = todos
        place = next((at for at, todo in enumerate(todos) if todo["id"] == self._selected_id), None)
        self._select(self.selected if place is None else place)
        self.virtual_size = Size(self.size.width, max(1, len(todos)))
        self.refresh()

    def select_id(self, id: str) -> None:
        """Selects a todo as soon as it is in the list."""
        self._selected_id = id

    def _select(self, place: int) -> None:
        self.selected = max(0, min(place, len(self.todos) - 1))
        if self.current is not None:
            self._selected_id = self.current["id"]
        self.call_after_refresh(
            self.scroll_to_region, Region(0, self.selected, 1, 1), animate=False, force=True)
        self.refresh()

    def on_resize(self) -> None:
        self.virtual_size = Size(self.size.width, max(1, len(self.todos)))

    def on_click(self, event: events.Click) -> None:
        place = event.y + self.scroll_offset.y
        if place < len(self.todos):
            self._select(place)
            if event.x < 4:
                self.action_complete()

    def render_line(self, y: int) -> Strip:
        width, place = self.size.width, y + int(self.scroll_offset.y)
        base = self.rich_style
        if place >= len(self.todos):
            if place == 0 and self._panel.empty_text:
                style = self.get_component_rich_style("todo--empty")
                return Strip([Segment(f"  {self._panel.empty_text}".ljust(width)[:width], style)])
            return Strip.blank(width, base)
        todo = self.todos[place]
        done = todo["completed"]
        text = self.get_component_rich_style("todo--done" if done else "todo--open")
        sign = "✓ " if done else "○ "
        if self._panel.is_adding(todo):
            text, sign = self.get_component_rich_style("todo--sending"), "◌ "
        mark = self.get_component_rich_style("todo--mark") if done else text
        if place == self.selected and (self.has_focus or self._panel.is_editing):
            back = Style(bgcolor=self.get_component_rich_style("todo--selected").bgcolor)
            base, text, mark = base + back, text + back, mark + back
            edge = Segment("▌", self.get_component_rich_style("todo--mark") + back)
        else:
            edge = Segment(" ", base)
        title = Text(printable(todo["title"]), no_wrap=True)
        title.truncate(max(0, width - 5), overflow="ellipsis", pad=True)
        return Strip([
            edge, Segment(sign, mark), Segment(title.plain, text), Segment("  ", base)
        ]).adjust_cell_length(width, base)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return self._panel.has_failed if action == "load" else True

    def action_load(self) -> None:
        self._panel.load()

    def action_select(self, by: int) -> None:
        self._select(self.selected + by)

    def action_add(self) -> None:
        self._panel.edit(None)

    def action_rename(self) -> None:
        if self.current is None:
            self._panel.edit(None)
        else:
            self._panel.edit(self.current)

    def action_complete(self) -> None:
        if todo := self.current:
            self._panel.complete_todo(todo)

    def action_remove(self) -> None:
        if todo := self.current:
            self._panel.remove_todo(todo)

    def action_move(self, by: int) -> None:
        if todo := self.current:
            self._panel.move_todo(todo, self.selected + by)

# SPDX-License-Identifier: Apache-2.0
"""The todo list. What is done to it is drawn at once, and settled by the server."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.geometry import Region, Size
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.widgets import Input, Static

from ..client import Client
from ..errors import StatewireError
from ..kinds import TODO
from ..store import Store
from ..types import Todo, TodoInput, TodoViewState
from .panel import Panel, follow, reason

Change = Callable[[list[Todo]], list[Todo]]
_new_ids = itertools.count(1)


class TodoList(ScrollView, can_focus=True):
    """The rows. Only those that are seen are drawn, however long the list."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "todo--open", "todo--done", "todo--mark", "todo--selected", "todo--empty"}
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
    ]

    def __init__(self, panel: TodoPanel) -> None:
        super().__init__()
        self._panel = panel
        self.todos: list[Todo] = []
        self.selected = 0
        self._selected_id = ""

    @property
    def current(self) -> Todo | None:
        """The todo that keys are about."""
        return self.todos[self.selected] if self.selected < len(self.todos) else None

    def show(self, todos: list[Todo]) -> None:
        """Shows these; the selection stays with its todo, or where that was."""
        self.todos = todos
        place = next((at for at, todo in enumerate(todos) if todo["id"] == self._selected_id), None)
        self._select(self.selected if place is None else place)
        self.virtual_size = Size(self.size.width, max(1, len(todos)))
        self.refresh()

    def select_id(self, id: str) -> None:
        """Selects a todo as soon as it is here."""
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
        mark = self.get_component_rich_style("todo--mark") if done else text
        if place == self.selected and (self.has_focus or self._panel.is_editing):
            back = Style(bgcolor=self.get_component_rich_style("todo--selected").bgcolor)
            base, text, mark = base + back, text + back, mark + back
            edge = Segment("▌", self.get_component_rich_style("todo--mark") + back)
        else:
            edge = Segment(" ", base)
        title = Text(todo["title"].replace("\n", " "), no_wrap=True)
        title.truncate(max(0, width - 5), overflow="ellipsis", pad=True)
        return Strip([
            edge, Segment("✓ " if done else "○ ", mark), Segment(title.plain, text), Segment("  ", base)
        ]).adjust_cell_length(width, base)

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


class TitleLine(Input):
    """Where titles are typed."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "submit", "Save", key_display="↵"),
        Binding("escape,down", "leave", "Back", key_display="Esc"),
    ]

    def __init__(self, leave: Callable[[], None]) -> None:
        super().__init__(
            placeholder="What is to be done?", compact=True, id="title", max_length=4096,
            select_on_focus=False)
        self.action_leave = leave


class TodoPanel(Panel):
    """The list, and the line in which todos are added and renamed."""

    def __init__(self) -> None:
        super().__init__("To do", "1", id="todo")
        self._store: Store[TodoInput, TodoViewState] | None = None
        self._renaming: Todo | None = None
        self.empty_text = ""
        self.is_editing = False

    def compose(self) -> ComposeResult:
        yield TitleLine(self._end_editing)
        yield TodoList(self)
        yield Static(id="todo-problem", classes="problem")

    @property
    def list(self) -> TodoList:
        return self.query_one(TodoList)

    async def follow(self, client: Client) -> None:
        """Shows the list as it is and changes."""

        def opened(store: Store[TodoInput, TodoViewState]) -> None:
            self._store = store
            if client.role == "driver":
                self._send({"type": "stateRequested"})

        await follow(client, TODO, None, None, opened, self.show)

    def show(self, state: TodoViewState) -> None:
        problem = ""
        if state["type"] == "content":
            todos = state["todos"]
            self.empty_text = "Nothing is left to do."
            left = sum(not todo["completed"] for todo in todos)
            self.entitle(f"To do · {left} of {len(todos)} left" if todos else "To do")
            self.list.show(todos)
        elif state["type"] == "loading":
            self.empty_text = "Loading…"
            self.list.refresh()
        else:
            problem = state["message"]
        self.tell(problem)

    def tell(self, problem: str) -> None:
        """Says what went wrong, or nothing."""
        line = self.query_one("#todo-problem", Static)
        line.update(problem)
        line.display = bool(problem)

    # The line

    def edit(self, todo: Todo | None) -> None:
        """Has the line take a new title: of this todo, or of a new one."""
        self._renaming, self.is_editing = todo, True
        line = self.query_one("#title", Input)
        line.value = todo["title"] if todo else ""
        line.cursor_position = len(line.value)
        line.set_class(todo is not None, "renaming")
        self.border_subtitle = "Its new title" if todo else None
        line.focus()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        title, todo = event.value.strip(), self._renaming
        if not title:
            self._end_editing()
        elif todo is None:
            event.input.value = ""  # For the next one.
            self.add_todo(title)
        else:
            self.rename_todo(todo, title)
            self._end_editing()

    def on_descendant_blur(self) -> None:
        line = self.query_one("#title", Input)
        if self.is_editing and self.screen.focused is not line:
            self._clear_line()

    def _end_editing(self) -> None:
        self._clear_line()
        self.list.focus()

    def _clear_line(self) -> None:
        line = self.query_one("#title", Input)
        self._renaming, self.is_editing = None, False
        line.value = ""
        line.remove_class("renaming")
        self.border_subtitle = None

    # What is done to the list

    def add_todo(self, title: str) -> None:
        before = {todo["id"] for todo in self.list.todos}
        own = Todo(id=f"new {next(_new_ids)}", title=title, completed=False)

        def change(todos: list[Todo]) -> list[Todo]:
            # Once the todo is there under the server's id, ours is not drawn any more.
            if any(todo["title"] == title and todo["id"] not in before for todo in todos):
                return todos
            return [*todos, own]

        self._send({"type": "todoAdded", "title": title}, change)
        self.list.select_id(own["id"])

    def rename_todo(self, todo: Todo, title: str) -> None:
        id = todo["id"]
        self._send(
            {"type": "todoRenamed", "id": id, "title": title},
            lambda todos: [_with_title(todo, title) if todo["id"] == id else todo for todo in todos])

    def complete_todo(self, todo: Todo) -> None:
        id, is_done = todo["id"], not todo["completed"]
        self._send(
            {"type": "todoCompleted", "id": id} if is_done else {"type": "todoReopened", "id": id},
            lambda todos: [_completed(todo, is_done) if todo["id"] == id else todo for todo in todos])

    def remove_todo(self, todo: Todo) -> None:
        id = todo["id"]
        self._send(
            {"type": "todoRemoved", "id": id}, lambda todos: [todo for todo in todos if todo["id"] != id])

    def move_todo(self, todo: Todo, place: int) -> None:
        id = todo["id"]
        others = [other for other in self.list.todos if other["id"] != id]
        if not 0 <= place <= len(others):
            return
        before = others[place]["id"] if place < len(others) else None

        def change(todos: list[Todo]) -> list[Todo]:
            others = [other for other in todos if other["id"] != id]
            moved = next((other for other in todos if other["id"] == id), None)
            at = len(others) if before is None else next(
                (at for at, other in enumerate(others) if other["id"] == before), None)
            if moved is None or at is None:
                return todos
            return [*others[:at], moved, *others[at:]]

        self._send({"type": "todoMoved", "id": id, "before": before}, change)

    def _send(self, input: TodoInput, change: Change | None = None) -> None:
        store = self._store
        if store is None:
            return
        self.tell("")

        def drawn(state: TodoViewState) -> TodoViewState:
            if state["type"] != "content" or change is None:
                return state
            return {"type": "content", "todos": change(state["todos"])}

        async def send() -> None:
            try:
                await store.send(input, settle=True, drawn=drawn)
            except StatewireError as error:
                self.tell(reason(error))

        self.run_worker(send(), group="inputs")


def _with_title(todo: Todo, title: str) -> Todo:
    return Todo(id=todo["id"], title=title, completed=todo["completed"])


def _completed(todo: Todo, is_done: bool) -> Todo:
    return Todo(id=todo["id"], title=todo["title"], completed=is_done)

# SPDX-License-Identifier: Apache-2.0
"""The todo list panel. Changes are shown immediately (optimistic updates) and confirmed by the server."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import Input, Static

from ..client import Client
from ..kinds import TODO
from ..store import Store
from ..types import Todo, TodoInput, TodoViewState
from .line import Line
from .panel import Panel, follow, plain
from .rows import TodoList

Change = Callable[[list[Todo]], list[Todo]]
_FAILED = "The list cannot be shown"


class TitleLine(Line):
    """The field in which titles are typed."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "submit", "Save", key_display="↵"),
        Binding("escape,down", "leave", "Back", key_display="Esc"),
    ]

    def __init__(self, panel: TodoPanel) -> None:
        super().__init__(placeholder="Add a task", id="title")
        self.submit = panel.submit  # type: ignore[method-assign]
        self.action_leave = panel.leave_line


@dataclass
class Renaming:
    """A todo whose title is being edited in the field."""

    id: str
    # The title at the start of the edit, or a newer one that the person has seen.
    base: str
    # The reason why the new title was returned to the field, or an empty text.
    refusal: str = ""


class Returned(NamedTuple):
    """A title that was not accepted and waits until the field is empty."""

    title: str
    reason: str
    # The todo that was renamed; None for a new one.
    renamed: str | None


class TodoPanel(Panel):
    """The list, and the field in which todos are added and renamed.

    A title is never lost: it is in the field, in the list, or waits to be returned to the field.
    """

    def __init__(self) -> None:
        super().__init__("Tasks", "1", id="todo")
        self._store: Store[TodoInput, TodoViewState] | None = None
        self._renaming: Renaming | None = None
        # The text for new todos, while the field has the title of an existing one.
        self._draft = ""
        # The reason why the text was returned to the field, or an empty text.
        self._refusal = ""
        self._returned: list[Returned] = []
        # The ids of returned titles: adding such a title again adds the same todo.
        self._ids: dict[str, str] = {}
        self._adding: set[str] = set()
        # The ids of todos that this client has removed: their absence is not reported.
        self._removed: set[str] = set()
        # Checks to run when the list is shown: did the todos of accepted inputs exist?
        self._unchecked: list[Callable[[], None]] = []
        # The titles that the person has seen or entered, of todos with a pending rename.
        self._titles: dict[str, list[str]] = {}
        # The problem of the last action, and the error in the state of the list.
        self._problem = ""
        self._state_problem = ""
        self.empty_text = ""

    def compose(self) -> ComposeResult:
        yield TitleLine(self)
        yield TodoList(self)
        yield Static(id="todo-problem", classes="problem")

    @property
    def rows(self) -> TodoList:
        return self.query_one(TodoList)

    @property
    def line(self) -> TitleLine:
        return self.query_one(TitleLine)

    @property
    def is_editing(self) -> bool:
        """True while the field has the focus."""
        return self.screen.focused is self.line

    @property
    def has_failed(self) -> bool:
        """True while the server shows an error in place of the list."""
        return bool(self._state_problem)

    def is_adding(self, todo: Todo) -> bool:
        """Returns True while the todo was added by this client and is not accepted yet."""
        return todo["id"] in self._adding

    def unsaved(self) -> list[str]:
        line = self.line.value
        if self._renaming is None:
            texts = [line]
        else:
            texts = [self._draft, line if line != self._renaming.base else ""]
        return [text for text in [*texts, *(back.title for back in self._returned)] if text.strip()]

    async def follow(self, client: Client) -> None:
        """Subscribes to the list."""

        def opened(store: Store[TodoInput, TodoViewState]) -> None:
            self._store = store
            store.on_state = self._watch_renamed
            if client.role == "driver":
                self.load()

        await follow(client, TODO, None, None, opened, self.show)

    def load(self) -> None:
        """Requests the list from the server."""
        input: TodoInput = {"type": "stateRequested"}
        self._report_result(self.post(self._store, input, self._report_result))

    def show(self, state: TodoViewState) -> None:
        had_failed, self._state_problem = self.has_failed, ""
        if state["type"] == "content":
            todos = state["todos"]
            self.empty_text = "No tasks"
            left = sum(not todo["completed"] for todo in todos)
            self.entitle(f"Tasks · {left} of {len(todos)} open" if todos else "Tasks")
            self.rows.show(todos)
            self._watch_title()
            unchecked, self._unchecked = self._unchecked, []
            for check in unchecked:
                check()
        elif state["type"] == "loading":
            self.empty_text = "Loading…"
            self.rows.refresh()
        else:
            self._state_problem = state["message"] or _FAILED
        if had_failed != self.has_failed:
            self.refresh_bindings()
        self._draw_problems()

    def show_problem(self, problem: str) -> None:
        """Shows a problem until the next action."""
        self._problem = problem
        self._draw_problems()

    def _append_problem(self, problem: str) -> None:
        """Appends a problem to those since the last action: several responses may arrive together."""
        if problem not in self._problem:
            self.show_problem(f"{self._problem}. {problem}" if self._problem else problem)

    def _draw_problems(self) -> None:
        # The reason for a returned title is shown until the title is sent again: after a lost connection it
        # arrives late, often just before the next key.
        problems = [self._refusal, self._renaming.refusal if self._renaming else ""]
        if self._returned:
            more = f" ({len(self._returned) - 1} more)" if len(self._returned) > 1 else ""
            problems.append(
                f"{self._returned[0].reason}. Your text is restored when the field is empty{more}")
        problems.append(self._problem)
        if not any(self._state_problem in problem for problem in problems):
            problems.append(self._state_problem)
        problem = ". ".join(filter(None, problems))
        line = self.query_one("#todo-problem", Static)
        line.update(plain(problem))
        line.display = bool(problem)

    # The field

    def edit(self, todo: Todo | None) -> None:
        """Focuses the field to rename a todo, or to add one."""
        line = self.line
        self.screen.set_focus(line)
        renaming = self._renaming
        if renaming is not None and not (todo and todo["id"] == renaming.id):
            if line.value != renaming.base:
                self.show_problem("This title is not saved. Enter: save · Esc: discard")
                return
            self._end_renaming()
            renaming = None
        if todo and renaming is None:
            self._rename(todo["id"], todo["title"], todo["title"])

    def _rename(self, id: str, base: str, title: str, refusal: str = "") -> None:
        self._draft, self._renaming = self.line.value, Renaming(id, base, refusal)
        self.line.put(title)
        self._mark_line()

    def _mark_line(self) -> None:
        """Shows the purpose of the field."""
        line = self.line
        line.set_class(self._renaming is not None, "renaming")
        count = len(_titles(line.value))
        if self._renaming is not None:
            self.border_subtitle = "Renaming"
        else:
            self.border_subtitle = f"Enter adds {count} tasks" if count > 1 else None

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        self._mark_line()
        if self._renaming is None and not self.line.value:
            self._refusal = ""
        self._bring_back()

    def submit(self) -> None:
        """Adds or renames. Text that cannot be sent stays in the field."""
        line, renaming = self.line, self._renaming
        title = line.value
        if renaming is not None:
            if title == renaming.base:
                self.leave_line()
                return
            shown = self._title(renaming.id)
            if not title.strip():
                self.show_problem("The title must not be empty")
            elif shown is None:
                self._renaming, draft, self._draft = None, self._draft, ""
                line.put("\n".join(filter(None, (title, draft))))
                self._mark_line()
                self.show_problem("Another client has removed this task. Enter adds it as a new one")
            elif shown != renaming.base:
                renaming.base = shown
                self.show_problem(f"Another client has renamed it to “{shown}”. Enter: overwrite · Esc: keep")
            elif problem := self.rename_todo(renaming.id, renaming.base, title):
                self.show_problem(problem)
            else:
                self.leave_line()
                self._draw()
            return
        # An empty line keeps the focus: if lines are pasted as keys, the lines after an empty one would be
        # interpreted as commands.
        self._refusal = ""
        problems = [(title, self.add_todo(title)) for title in _titles(title)]
        left = [(title, problem) for title, problem in problems if problem]
        line.put("\n".join(title for title, _ in left))
        self._draw()
        if left:
            self.show_problem(left[0][1])

    def leave_line(self) -> None:
        """Leaves the field. A text for a new todo stays; a new title of an existing todo is discarded."""
        self._end_renaming()
        self.screen.set_focus(self.rows)

    def on_descendant_blur(self) -> None:
        if self._renaming is not None and self.line.value == self._renaming.base and not self.is_editing:
            self._end_renaming()

    def _end_renaming(self) -> None:
        if self._renaming is not None:
            self._renaming, draft = None, self._draft
            self._draft = ""
            self.line.put(draft)
            self._mark_line()
            self._bring_back()

    def _watch_title(self) -> None:
        """Notices when another client renames the todo that is being renamed."""
        renaming = self._renaming
        if renaming is None:
            return
        shown = self._title(renaming.id)
        if shown in (None, renaming.base):
            return
        if self.line.value == renaming.base:
            renaming.base = shown or ""
            self.line.put(renaming.base)
        else:
            # On Enter, the new title becomes the base and the person is asked.
            self._append_problem(f"Another client has renamed it to “{shown}”")

    def _watch_renamed(self, state: TodoViewState) -> None:
        """Notices when another client renames a todo while a rename of this client is pending."""
        if not self._titles:
            return
        for todo in state["todos"] if state["type"] == "content" else []:
            own = self._titles.get(todo["id"])
            if own is not None and todo["title"] not in own:
                self._append_problem(
                    f"Another client has renamed it to “{todo['title']}” while your title “{own[-1]}” was "
                    "being sent")
                own.insert(0, todo["title"])

    def _title(self, id: str) -> str | None:
        return next((todo["title"] for todo in self.rows.todos if todo["id"] == id), None)

    # Returned titles

    def _give_back(self, returned: Returned) -> None:
        self._returned.append(returned)
        self._bring_back()

    def _bring_back(self) -> None:
        """Puts the next title that was not accepted into the field, if the field is free."""
        if self._returned and self._renaming is None and not self.line.value:
            back = self._returned.pop(0)
            base = self._title(back.renamed) if back.renamed else None
            if back.renamed is None or base is None:
                self._refusal = back.reason
                self.line.put(back.title)
            else:
                self._rename(back.renamed, base, back.title, back.reason)
        self._draw_problems()

    # Changes of the list

    def add_todo(self, title: str) -> str | None:
        """Adds a todo with an id of this client, so that it can be changed before the response.

        - Returns: The reason why the input cannot be sent, or None.
        """
        id = self._ids.pop(title, None) or str(uuid.uuid4())
        own = Todo(id=id, title=title, completed=False)

        def change(todos: list[Todo]) -> list[Todo]:
            return todos if any(todo["id"] == id for todo in todos) else [*todos, own]

        def ended(problem: str | None) -> None:
            self._adding.discard(id)
            self.rows.refresh()
            if problem := problem or self._failure:
                self._ids[title] = id
                self._give_back(Returned(title, f"“{_short(title)}” was not added: {problem}", None))

        self._adding.add(id)
        self.rows.select_id(id)
        problem = self._send({"type": "todoAdded", "title": title, "id": id}, change, ended)
        if problem:
            self._adding.discard(id)
            self._ids[title] = id
        return problem

    def rename_todo(self, id: str, base: str, title: str) -> str | None:
        """Renames a todo.

        - Returns: The reason why the input cannot be sent, or None.
        """

        def ended(problem: str | None) -> None:
            if self._titles.get(id, [None])[-1] == title:
                del self._titles[id]
            if problem := problem or self._failure:
                self._give_back(Returned(title, f"“{_short(base)}” was not renamed: {problem}", id))

        problem = self._send(
            {"type": "todoRenamed", "id": id, "title": title},
            lambda todos: [_with_title(todo, title) if todo["id"] == id else todo for todo in todos],
            self._checked(id, ended))
        if problem is None:
            self._titles.setdefault(id, [base]).append(title)
        return problem

    def complete_todo(self, todo: Todo) -> None:
        id, is_done = todo["id"], not todo["completed"]
        self._do(
            {"type": "todoCompleted", "id": id} if is_done else {"type": "todoReopened", "id": id},
            lambda todos: [_completed(todo, is_done) if todo["id"] == id else todo for todo in todos],
            self._checked(id, self._result_reporter(todo, "completed" if is_done else "reopened")))

    def remove_todo(self, todo: Todo) -> None:
        id = todo["id"]
        report = self._result_reporter(todo, "removed")

        def ended(problem: str | None) -> None:
            if problem:
                self._removed.discard(id)
            report(problem)

        self._removed.add(id)
        self._do(
            {"type": "todoRemoved", "id": id}, lambda todos: [todo for todo in todos if todo["id"] != id],
            ended)

    def move_todo(self, todo: Todo, place: int) -> None:
        id = todo["id"]
        others = [other for other in self.rows.todos if other["id"] != id]
        if not 0 <= place <= len(others):
            return
        followers = [other["id"] for other in others[place:]]
        before = followers[0] if followers else None

        def change(todos: list[Todo]) -> list[Todo]:
            others = [other for other in todos if other["id"] != id]
            moved = next((other for other in todos if other["id"] == id), None)
            at = len(others) if before is None else next(
                (at for at, other in enumerate(others) if other["id"] == before), None)
            if moved is None or at is None:
                return todos
            return [*others[:at], moved, *others[at:]]

        report = self._result_reporter(todo, "moved")

        def ended(problem: str | None) -> None:
            report(problem)
            here = {todo["id"] for todo in self.rows.todos}
            is_gone = before is not None and before not in here and before not in self._removed
            if problem is None and is_gone and id in here:
                # The todo before which it was dropped no longer exists: the server has not moved it.
                place = next((other for other in followers if other in here), None)
                self._do({"type": "todoMoved", "id": id, "before": place}, lambda todos: todos, report)

        self._do({"type": "todoMoved", "id": id, "before": before}, change, self._checked(id, ended))

    def _checked(self, id: str, ended: Callable[[str | None], None]) -> Callable[[str | None], None]:
        """Reports a problem if the todo does not exist: the server accepts such an input and ignores it."""

        def checked(problem: str | None) -> None:
            state = None if self._store is None or problem else self._store.confirmed
            if state and state["type"] == "loading":
                self._unchecked.append(lambda: checked(None))
                return
            if state and state["type"] == "content" and id not in self._removed:
                is_there = any(todo["id"] == id for todo in state["todos"])
                problem = None if is_there else "another client has removed it"
            ended(problem)

        return checked

    def _result_reporter(self, todo: Todo, done: str) -> Callable[[str | None], None]:
        """Makes a callback that reports a failed action on a todo."""

        def ended(problem: str | None) -> None:
            if problem:
                self._append_problem(f"“{_short(todo['title'])}” was not {done}: {problem}")

        return ended

    def _do(self, input: TodoInput, change: Change, ended: Callable[[str | None], None]) -> None:
        """Sends an input without text of the person, and shows its effect."""
        if problem := self._send(input, change, ended):
            ended(problem)
        self._draw()

    def _send(self, input: TodoInput, change: Change, ended: Callable[[str | None], None]) -> str | None:
        """Sends an input; returns the reason why it cannot be sent, or None."""

        def optimistic(state: TodoViewState) -> TodoViewState:
            if state["type"] != "content":
                return state
            return {"type": "content", "todos": change(state["todos"])}

        self.show_problem("")
        return self.post(self._store, input, ended, settle=True, optimistic=optimistic, idempotent=True)

    @property
    def _failure(self) -> str | None:
        """The error that the server shows instead of the list, or None."""
        state = None if self._store is None else self._store.confirmed
        return state["message"] or _FAILED if state and state["type"] == "error" else None

    def _draw(self) -> None:
        """Shows the state with the last change: the next key applies to it."""
        if self._store is not None:
            self.show(self._store.state)

    def _report_result(self, problem: str | None) -> None:
        if problem:
            self.show_problem(problem)


def _titles(text: str) -> list[str]:
    """Splits a text into titles, one for each line."""
    return [title for title in map(str.strip, text.split("\n")) if title]


def _short(title: str) -> str:
    return title if len(title) <= 20 else title[:19] + "…"


def _with_title(todo: Todo, title: str) -> Todo:
    return Todo(id=todo["id"], title=title, completed=todo["completed"])


def _completed(todo: Todo, is_done: bool) -> Todo:
    return Todo(id=todo["id"], title=todo["title"], completed=is_done)

# SPDX-License-Identifier: Apache-2.0
"""The terminal program at 80 × 24, driven by keys. Screenshots are saved as SVG in SCREENSHOTS."""

from __future__ import annotations

import asyncio
import contextlib
import io
import logging
import os
import pathlib
import signal
import subprocess
import sys
import unittest
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any
from unittest import mock

from textual import events
from textual.pilot import Pilot
from textual.widgets import Button, Digits, Input, Static

from statewire import BALANCE, FORM, LOADING, TODO, Backoff, Client, Connection, RPCError
from statewire.printing import printable
from statewire.tui import main
from statewire.tui.app import Leaving, Sharing, StatewireApp
from statewire.tui.balance import BalancePanel
from statewire.tui.form import FormPanel
from statewire.tui.gallery import GALLERY, store_name
from statewire.tui.head import Head
from statewire.tui.loaders import LoaderLine, LoaderPanel
from statewire.tui.panel import reason
from statewire.tui.rows import TodoList
from statewire.tui.todos import TodoPanel

from .support import PATIENCE, PROGRAM, PROJECT, Server, folder, free_port, run

SOON = Backoff(base=0.01, maximum=0.1)
SCREENSHOTS = pathlib.Path(
    os.environ.get("SCREENSHOTS") or PROJECT / ".build" / "clients" / "screenshots")


# Sets the window title, clears the screen, uses C1 controls, reorders text, has markup.
HOSTILE = "a\x1b]2;P\x07\x1b[2J\x9b31m\x7f\u202e\t\n[@click=app.quit]b"
VISIBLE = "a␛]2;P␇␛[2J�31m␡�␉␊[@cli"


# Another client in its own process: renames the todo 1 and waits for a title.
ELSEWHERE = """
import asyncio, sys
from statewire import TODO, Client

async def rename(url, title, shown):
    async with Client(url) as client:
        todo = await client.open(TODO)
        await todo.send({"type": "stateRequested"}, settle=True)
        if title:
            await todo.send({"type": "todoRenamed", "id": "1", "title": title}, settle=True)
        await todo.wait_until(lambda state: any(todo["title"] == shown for todo in state["todos"]))

asyncio.run(rename(*sys.argv[1:]))
"""


class Terminal:
    """The terminal program, its screen and its keys."""

    def __init__(self, app: StatewireApp, pilot: Pilot[None]) -> None:
        self.app, self.pilot = app, pilot

    async def until(self, condition: Callable[[], object]) -> None:
        """Waits for a condition; the timeout of the test applies."""
        while not condition():
            await self.pilot.pause(0.01)

    async def type(self, text: str) -> None:
        names = {" ": "space", ",": "comma", "!": "exclamation_mark"}
        await self.pilot.press(*(names.get(letter, letter) for letter in text))

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)

    async def focus(self, key: str, selector: str) -> None:
        """Presses a key that moves the focus."""
        await self.pilot.press(key)
        await self.until(lambda: self.app.focused is self.app.query_one(selector))

    @property
    def client(self) -> Client:
        assert self.app._client
        return self.app._client

    @property
    def titles(self) -> list[str]:
        return [todo["title"] for todo in self.app.query_one(TodoList).todos]

    @property
    def is_sent(self) -> bool:
        """True when all changes of the list are accepted."""
        return not self.app.query_one(TodoPanel).pending_count

    @property
    def head(self) -> str:
        return self.app.query_one(Head).render().plain

    def text(self, selector: str) -> str:
        return str(self.app.query_one(selector, Static).render())

    def loader(self, name: str) -> str:
        return self.app.query_one(f"#{store_name(name)}", LoaderLine).render().plain

    def keep(self, name: str) -> str:
        """Returns the screen as text and saves a screenshot."""
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)
        (SCREENSHOTS / f"{name}.svg").write_text(
            self.app.export_screenshot(title="statewire-tui"), encoding="utf-8")
        rows = self.app.screen._compositor.render_strips()
        return "\n".join(strip.text for strip in rows)


@contextlib.contextmanager
def delayed(gate: asyncio.Event) -> Iterator[None]:
    """Delays connections until the gate is open."""
    connect = Connection.to

    async def late(*arguments: Any) -> Connection:
        await gate.wait()
        return await connect(*arguments)

    with mock.patch.object(Connection, "to", late):
        yield


async def soon(*_: float) -> None:
    """Disables the wait of Textual after each key, which takes a second on a busy machine: the tests wait
    for conditions."""
    await asyncio.sleep(0.001)


@contextlib.asynccontextmanager
async def terminal(
    url: str, session: str | None = None, size: tuple[int, int] = (80, 24), frontend: str | None = None
) -> AsyncIterator[Terminal]:
    app = StatewireApp(
        lambda: Client(url, session=session, frontend=frontend, backoff=SOON, retry_initial_connection=True))
    with mock.patch("textual.app.wait_for_idle", soon), mock.patch("textual.pilot.wait_for_idle", soon):
        async with app.run_test(size=size) as pilot:
            yield Terminal(app, pilot)


class TerminalTests(unittest.TestCase):
    def setUp(self) -> None:
        logging.disable(logging.WARNING)

    def tearDown(self) -> None:
        logging.disable(logging.NOTSET)

    def test_list_is_edited_by_keyboard_only(self) -> None:
        async def test() -> None:
            async with await Server.start("--test") as server, terminal(server.url) as screen:
                await screen.until(lambda: "No tasks" in screen.keep("empty"))
                await screen.focus("a", "#title")
                for title in ("Milk", "Bread", "Call Ada"):
                    await screen.type(title)
                    await screen.press("enter")
                await screen.press("escape")
                await screen.until(lambda: screen.titles == ["Milk", "Bread", "Call Ada"])
                rows = screen.app.query_one(TodoList)
                await screen.until(lambda: screen.is_sent)
                await screen.until(lambda: rows.selected == 2)

                await screen.press("K")
                await screen.until(lambda: screen.titles == ["Milk", "Call Ada", "Bread"])
                self.assertEqual(rows.selected, 1)
                await screen.press("shift+down")
                await screen.until(lambda: screen.titles == ["Milk", "Bread", "Call Ada"])
                await screen.press("home", "space")
                await screen.until(lambda: rows.todos[0]["completed"])
                await screen.press("down")
                await screen.until(lambda: rows.selected == 1)
                await screen.focus("r", "#title")
                await screen.until(lambda: screen.app.query_one("#title", Input).value == "Bread")
                await screen.type(", dark")
                await screen.press("enter")
                await screen.until(lambda: screen.titles[1] == "Bread, dark")
                await screen.press("end", "d")
                await screen.until(lambda: len(screen.titles) == 2)
                await screen.press("home", "space")
                await screen.until(lambda: not rows.todos[0]["completed"])
                await screen.press("space")
                await screen.until(lambda: rows.todos[0]["completed"])
                await screen.until(lambda: "1 of 2 open" in str(screen.app.query_one(TodoPanel).border_title))

                # The server has the same list.
                async with Client(server.url, session=screen.client.session) as other:
                    state = (await other.open(TODO)).state
                    assert state["type"] == "content"
                    self.assertEqual(
                        [(todo["title"], todo["completed"]) for todo in state["todos"]],
                        [("Milk", True), ("Bread, dark", False)])
                shown = screen.keep("list")
                self.assertIn("✓ Milk", shown)
                self.assertIn("○ Bread, dark", shown)

        run(test())

    def test_refused_change_is_reported_and_reverted(self) -> None:
        async def test() -> None:
            async with await Server.start("--maximum-title-bytes", "10") as server:
                async with terminal(server.url) as screen:
                    await screen.focus("a", "#title")
                    await screen.type("much too long")
                    await screen.press("enter")
                    line = screen.app.query_one("#title", Input)
                    await screen.until(lambda: screen.text("#todo-problem"))
                    await screen.until(lambda: line.value == "much too long")
                    self.assertEqual(screen.titles, [])
                    self.assertIn("10", screen.text("#todo-problem"))
                    await screen.press("ctrl+u")
                    await screen.type("short")
                    await screen.press("enter")
                    await screen.until(lambda: screen.titles == ["short"] and screen.is_sent)
                    self.assertEqual(screen.text("#todo-problem"), "")

                    # A title that is refused while the field has another one returns after that.
                    await screen.type("next")
                    screen.app.query_one(TodoPanel).add_todo("too long, too")
                    await screen.until(lambda: "Your text is restored" in screen.text("#todo-problem"))
                    self.assertEqual(line.value, "next")
                    await screen.press("enter")
                    await screen.until(lambda: line.value == "too long, too")
                    await screen.until(lambda: screen.titles == ["short", "next"])
                    # A new title of a todo returns too.
                    await screen.press("ctrl+u", "escape", "home", "r")
                    await screen.type(" no longer")
                    await screen.press("enter")
                    await screen.until(lambda: line.value == "short no longer")
                    self.assertTrue(line.has_class("renaming"))
                    self.assertEqual(screen.titles, ["short", "next"])
                    await screen.press("a")
                    self.assertIn("not saved", screen.text("#todo-problem"))
                    self.assertTrue(line.value.startswith("short no longer"))

        run(test())

    def test_refusal_is_shown_until_resent(self) -> None:
        """Also when the refusal arrives late, after further keys."""

        async def test() -> None:
            async with await Server.start("--test", "--maximum-title-bytes", "10") as server:
                async with terminal(server.url) as screen:
                    problem, line = "#todo-problem", screen.app.query_one("#title", Input)
                    await screen.until(lambda: "No tasks" in screen.keep("refused"))
                    await screen.focus("a", "#title")
                    await screen.type("Milk")
                    await screen.press("enter")
                    await screen.until(lambda: screen.titles == ["Milk"] and screen.is_sent)
                    first, second = (
                        f"“{title}” was not added: A title has at most 10 bytes"
                        for title in ("the first one", "the second one"))

                    gate = asyncio.Event()
                    with delayed(gate):
                        assert screen.client._connection
                        screen.client._connection.abort()
                        for title in ("the first one", "the second one"):
                            await screen.type(title)
                            await screen.press("enter")
                        await screen.press("escape", "home")
                        gate.set()
                        await screen.until(lambda: screen.is_sent)
                    both = f"{first}. {second}. Your text is restored when the field is empty"
                    await screen.until(lambda: screen.text(problem) == both)
                    await screen.press("space", "r")
                    await screen.type("!")
                    await screen.press("enter")
                    await screen.until(lambda: screen.titles == ["Milk!"] and screen.is_sent)
                    self.assertEqual((screen.text(problem), line.value), (both, "the first one"))
                    await screen.focus("a", "#title")
                    await screen.press("ctrl+u")
                    await screen.until(lambda: line.value == "the second one")
                    await screen.until(lambda: screen.text(problem) == second)
                    await screen.press(*["backspace"] * 8)
                    self.assertEqual(screen.text(problem), second)
                    await screen.press("enter")
                    self.assertEqual(screen.text(problem), "")
                    await screen.until(lambda: screen.titles == ["Milk!", "the se"] and screen.is_sent)

        run(test())

    def test_control_characters_are_replaced_in_all_places(self) -> None:
        """Shows each kind of text from a server in all places."""

        async def test() -> None:
            async with await Server.start("--test") as server, Client(server.url) as other:
                failing = {"type": "mock", "states": [
                    {"state": {"type": "failure", "error": {"code": "source.a", "message": HOSTILE}}}]}
                await other.open(LOADING, store_name(GALLERY[0][0]), failing)
                loaded = {"type": "mock", "states": [{"state": {"type": "loaded", "value": [HOSTILE]}}]}
                await other.open(LOADING, store_name(GALLERY[1][0]), loaded)
                waiting = {"type": "mock", "states": [{"state": {"type": "loading", "progress": {
                    "percent": None, "message": f"(attempt {HOSTILE} of 3)", "isCancelled": False}}}]}
                await other.open(LOADING, store_name(GALLERY[2][0]), waiting)
                todo, form = await other.open(TODO), await other.open(FORM)
                await todo.send({"type": "stateRequested"}, settle=True)
                await todo.send({"type": "todoAdded", "title": HOSTILE}, settle=True)
                await form.send({"type": "firstEntryChanged", "value": HOSTILE})

                async with terminal(server.url, other.session) as screen:
                    seen: list[str] = []

                    def look() -> str:
                        shown = screen.keep("hostile")
                        for character in shown.replace("\n", ""):
                            self.assertTrue(character == printable(character), f"{character!r} in {shown}")
                        styles = [
                            segment.style for strip in screen.app.screen._compositor.render_strips()
                            for segment in strip if segment.style and "@click" in segment.style.meta]
                        self.assertTrue(all("app.quit" not in str(style.meta) for style in styles))
                        seen.append(shown)
                        return shown

                    await screen.until(lambda: screen.titles == [HOSTILE])
                    await screen.until(lambda: VISIBLE in look())
                    await screen.focus("1", "TodoList")
                    await screen.press("r")
                    await screen.until(lambda: look().count(VISIBLE) == 2)
                    await screen.press("enter")
                    await screen.focus("3", "#first")
                    await screen.press("ctrl+t")
                    await screen.until(lambda: f"{VISIBLE[:8]}" in look())
                    await screen.press("escape")
                    await screen.focus("4", "#loaders")
                    for line in (0, 1, 2):
                        await screen.press("enter")
                        await screen.until(
                            lambda: printable(HOSTILE)[:9] in look().splitlines()[-2])
                        await screen.press("down") if line < 2 else None
                    panel = screen.app.query_one(TodoPanel)
                    panel.show_problem(HOSTILE)
                    panel.entitle(HOSTILE)
                    screen.app.query_one(BalancePanel).entitle(HOSTILE)
                    screen.app.query_one(BalancePanel)._report_result(HOSTILE)
                    screen.app.query_one(FormPanel)._show_text(HOSTILE)
                    screen.app.query_one(Head).show("closed", HOSTILE)
                    screen.app.notify(reason(RPCError(1, HOSTILE)), markup=False)
                    await screen.until(lambda: look().count(VISIBLE[:8]) >= 8)
                    # All texts are shown as text.
                    self.assertIn(VISIBLE, seen[-1])
                    # Nothing was renamed.
                    self.assertEqual(screen.titles, [HOSTILE])

        run(test())

    def test_titles_are_edited_unchanged(self) -> None:
        async def test() -> None:
            async with await Server.start("--test") as server, Client(server.url) as other:
                todo = await other.open(TODO)
                await todo.send({"type": "stateRequested"}, settle=True)
                title = " two\r\nlines\t\u202e  "
                await todo.send({"type": "todoAdded", "title": title}, settle=True)
                revision = todo.revision
                async with terminal(server.url, other.session) as screen:
                    line = screen.app.query_one("#title", Input)
                    await screen.until(lambda: screen.titles == [title])
                    # Opening and closing the field changes nothing.
                    for key in ("enter", "escape"):
                        await screen.press("r")
                        await screen.until(lambda: line.value == title)
                        await screen.press(key)
                        await screen.until(lambda: line.value == "")
                    await screen.client.request("ping")
                    self.assertEqual(todo.revision, revision)
                    await screen.press("r")
                    await screen.type("x")
                    await screen.press("home", "delete", "enter")
                    edited = "two\r\nlines\t\u202e  x"
                    await screen.until(lambda: screen.titles == [edited] and screen.is_sent)
                    # An empty title stays in the field.
                    await screen.press("r", "ctrl+u", "enter")
                    self.assertIn("must not be empty", screen.text("#todo-problem"))
                    await screen.press("escape")
                    self.assertEqual(screen.titles, [edited])

        run(test())

    def test_concurrent_rename_or_removal_of_the_edited_todo(self) -> None:
        async def test() -> None:
            async with await Server.start("--test") as server, Client(server.url) as other:
                todo = await other.open(TODO)
                await todo.send({"type": "stateRequested"}, settle=True)
                await todo.send({"type": "todoAdded", "title": "Milk", "id": "1"}, settle=True)

                async def rename(title: str) -> None:
                    await todo.send({"type": "todoRenamed", "id": "1", "title": title}, settle=True)
                    await screen.until(lambda: screen.titles == [title])

                async with terminal(server.url, other.session) as screen:
                    line = screen.app.query_one("#title", Input)
                    problem = "#todo-problem"
                    await screen.until(lambda: screen.titles == ["Milk"])
                    # Without an edit, the field shows the new title.
                    await screen.press("r")
                    await rename("Oat milk")
                    await screen.until(lambda: line.value == "Oat milk")
                    await screen.type("!")
                    await rename("Soy milk")
                    await screen.until(lambda: "Soy milk" in screen.text(problem))
                    self.assertEqual(line.value, "Oat milk!")
                    await screen.press("enter")
                    self.assertIn("overwrite", screen.text(problem))
                    self.assertEqual(screen.titles, ["Soy milk"])
                    await screen.press("enter")
                    await screen.until(lambda: screen.titles == ["Oat milk!"] and screen.is_sent)
                    # Esc keeps the title of the other client.
                    await screen.press("r")
                    await screen.type("!")
                    await rename("Rice milk")
                    await screen.press("enter", "escape")
                    self.assertEqual(screen.titles, ["Rice milk"])
                    self.assertEqual(line.value, "")

                    await screen.press("r")
                    await screen.type("?")
                    await todo.send({"type": "todoRemoved", "id": "1"}, settle=True)
                    await screen.until(lambda: screen.titles == [])
                    await screen.press("enter")
                    self.assertIn("removed", screen.text(problem))
                    self.assertEqual(line.value, "Rice milk?")
                    await screen.press("enter")
                    await screen.until(lambda: screen.titles == ["Rice milk?"] and screen.is_sent)

        run(test())

    def test_concurrent_rename_wins(self) -> None:
        """Reports that a pending title has replaced a title that the person has not seen."""

        async def test() -> None:
            async with await Server.start("--test") as server, Client(server.url) as other:
                todo = await other.open(TODO)
                await todo.send({"type": "stateRequested"}, settle=True)
                await todo.send({"type": "todoAdded", "title": "Milk", "id": "1"}, settle=True)
                async with terminal(server.url, other.session) as screen:
                    await screen.until(lambda: screen.titles == ["Milk"])
                    gate = asyncio.Event()
                    with delayed(gate):
                        assert screen.client._connection
                        screen.client._connection.abort()
                        await screen.press("r")
                        await screen.type("!")
                        await screen.press("enter")
                        self.assertEqual(screen.titles, ["Milk!"])
                        await todo.send({"type": "todoRenamed", "id": "1", "title": "Oats"}, settle=True)
                        gate.set()
                        await screen.until(lambda: screen.is_sent)
                    await screen.until(lambda: todo.state == {"type": "content", "todos": [
                        {"id": "1", "title": "Milk!", "completed": False}]})
                    self.assertIn("Oats", screen.text("#todo-problem"))

                    # Also when several updates arrive together.
                    def elsewhere(rename: str | None, shown: str) -> None:
                        arguments = [server.url, rename or "", shown]
                        subprocess.run(
                            [sys.executable, "-c", ELSEWHERE, *arguments], check=True, timeout=PATIENCE)

                    await screen.press("escape")
                    await screen.until(lambda: screen.titles == ["Milk!"])
                    elsewhere("Rice", "Rice")
                    screen.app.query_one(TodoPanel).rename_todo("1", "Milk!", "Milk")
                    # The input is sent and no response was read yet.
                    await asyncio.sleep(0)
                    elsewhere(None, "Milk")
                    await screen.until(lambda: screen.is_sent and screen.titles == ["Milk"])
                    self.assertIn("Rice", screen.text("#todo-problem"))

        run(test())

    def test_changes_of_a_removed_todo_are_reported(self) -> None:
        """Reports that an action had no effect because the todo was removed: the server accepts such inputs.

        Over the next connection, and in the next session, whose list is loaded after the inputs.
        """

        async def test() -> None:
            async with await Server.start("--test") as server, Client(server.url) as other:
                todo = await other.open(TODO)
                await todo.send({"type": "stateRequested"}, settle=True)
                for id in "abcde":
                    await todo.send({"type": "todoAdded", "title": id, "id": id}, settle=True)
                async with terminal(server.url) as screen:
                    line = screen.app.query_one("#title", Input)
                    problem = "#todo-problem"
                    async def remove(renamed: str, ticked: str, is_lost: bool) -> None:
                        await screen.until(lambda: screen.titles[:1] == [renamed])
                        third = Client(server.url, session=screen.client.session)
                        await third.connect()
                        gate = asyncio.Event()
                        with delayed(gate):
                            assert screen.client._connection
                            screen.client._connection.abort()
                            await screen.press("home", "r")
                            await screen.type("!")
                            await screen.press("enter", "home", "down", "space", "J")
                            for id in (renamed, ticked):
                                await todo.send({"type": "todoRemoved", "id": id}, settle=True)
                            await (third.end_session() if is_lost else third.close())
                            gate.set()
                            await screen.until(lambda: screen.is_sent)
                        await screen.until(lambda: line.value == f"{renamed}!")
                        expected = [f"“{renamed}” was not renamed", f"“{ticked}” was not completed",
                                f"“{ticked}” was not moved"]
                        await screen.until(lambda: all(
                            f"{text}: another client has removed it" in screen.text(problem)
                            for text in expected))
                        await screen.focus("a", "#title")
                        await screen.press("ctrl+u", "escape")

                    await remove("a", "b", False)
                    await remove("c", "d", True)
                    await screen.until(lambda: screen.titles == ["e"] and screen.client.status == "connected")

                    # Removals by this person are not reported.
                    gate = asyncio.Event()
                    with delayed(gate):
                        assert screen.client._connection
                        screen.client._connection.abort()
                        await screen.press("home", "r")
                        await screen.type("!")
                        await screen.press("enter", "space", "d")
                        gate.set()
                        await screen.until(lambda: screen.is_sent)
                    await screen.until(lambda: screen.titles == [])
                    self.assertEqual((screen.text(problem), line.value), ("", ""))

        run(test())

    def test_reason_of_a_refused_connection_is_shown(self) -> None:
        async def test() -> None:
            async with await Server.start() as server:
                async with terminal(server.url, frontend="x" * 400) as screen:
                    await screen.until(lambda: "frontend" in screen.head)
                    self.assertIn("Reconnecting", screen.head)
                    assert screen.client.refusal
                    self.assertIn("frontend", screen.client.refusal.message)

        run(test())

    def test_todo_is_moved_before_a_removed_todo(self) -> None:
        """The todo is moved before the next existing one."""

        async def test() -> None:
            async with await Server.start("--test") as server, Client(server.url) as other:
                todo = await other.open(TODO)
                await todo.send({"type": "stateRequested"}, settle=True)
                for id in "abcd":
                    await todo.send({"type": "todoAdded", "title": id, "id": id}, settle=True)
                async with terminal(server.url, other.session) as screen:
                    await screen.until(lambda: screen.titles == list("abcd"))
                    gate = asyncio.Event()
                    with delayed(gate):
                        assert screen.client._connection
                        screen.client._connection.abort()
                        await screen.press("end", "K", "K")
                        self.assertEqual(screen.titles, list("adbc"))
                        await todo.send({"type": "todoRemoved", "id": "b"}, settle=True)
                        gate.set()
                        await screen.until(lambda: screen.is_sent and len(screen.titles) == 3)
                    await todo.wait_until(lambda state: state["type"] == "content" and
                                        [row["title"] for row in state["todos"]] == list("adc"))
                    await screen.until(lambda: screen.titles == list("adc"))

        run(test())

    def test_todo_is_moved_before_a_locally_removed_todo(self) -> None:
        """The todo was moved before the other one was removed; it is not moved again."""

        async def test() -> None:
            async with await Server.start("--test") as server, Client(server.url) as other:
                todo = await other.open(TODO)
                await todo.send({"type": "stateRequested"}, settle=True)
                for id in "abcd":
                    await todo.send({"type": "todoAdded", "title": id, "id": id}, settle=True)
                async with terminal(server.url) as screen:
                    await screen.until(lambda: screen.titles == list("abcd"))
                    gate = asyncio.Event()
                    with delayed(gate):
                        assert screen.client._connection
                        screen.client._connection.abort()
                        await screen.press("end", "K", "down", "d", "K")
                        self.assertEqual(screen.titles, list("adb"))
                        gate.set()
                        await screen.until(lambda: screen.is_sent)
                    await todo.send({"type": "stateRequested"}, settle=True)
                    state = todo.confirmed
                    assert state["type"] == "content"
                    self.assertEqual([row["title"] for row in state["todos"]], list("adb"))
                    self.assertEqual(screen.titles, list("adb"))

        run(test())

    def test_pasted_lines_become_todos(self) -> None:
        async def test() -> None:
            async with await Server.start("--test") as server, terminal(server.url) as screen:
                await screen.until(lambda: "No tasks" in screen.keep("paste"))
                line = screen.app.query_one("#title", Input)
                await screen.focus("a", "#title")
                screen.app.post_message(events.Paste("Milk\r\n  Bread\r\rEggs\n"))
                await screen.until(lambda: line.value == "Milk\n  Bread\n\nEggs")
                await screen.until(lambda: "Milk␊  Bread␊␊Eggs" in screen.keep("paste"))
                self.assertIn("Enter adds 3 tasks", screen.keep("paste"))
                await screen.press("enter")
                await screen.until(lambda: screen.titles == ["Milk", "Bread", "Eggs"] and screen.is_sent)
                self.assertEqual(line.value, "")
                # With an empty field, Enter keeps the focus.
                await screen.press("enter", "d")
                await screen.until(lambda: line.value == "d")
                # A begun text stays when the focus moves.
                await screen.press("tab")
                await screen.until(lambda: screen.app.focused is not line)
                await screen.press("1", "r")
                await screen.until(lambda: line.value == "Eggs")
                await screen.press("escape")
                await screen.until(lambda: line.value == "d")
                # Also in a field of the form.
                await screen.focus("3", "#first")
                screen.app.post_message(events.Paste("one\ntwo\nthree"))
                await screen.until(lambda: screen.app.query_one("#first", Input).value == "one\ntwo\nthree")
                form = await screen.client.open(FORM)
                await form.wait_until(lambda state: state["firstEntry"] == "one\ntwo\nthree")

        run(test())

    def test_keys_apply_to_the_result_of_earlier_keys(self) -> None:
        """All keys are queued before the first one is handled."""

        async def test() -> None:
            async with await Server.start("--test") as server, terminal(server.url) as screen:
                await screen.until(lambda: "No tasks" in screen.keep("fast"))
                for key in ("a", "d", "a", "enter", "d", "b", "enter", "d", "c", "enter", "escape",
                            "up", "d", "r", "d", "enter", "K"):
                    character = key if len(key) == 1 else None
                    screen.app.post_message(events.Key(key, character))
                # "dc" was selected after "db" was removed.
                await screen.until(lambda: screen.titles == ["dcd", "da"])
                await screen.until(lambda: screen.is_sent)
                self.assertEqual(screen.titles, ["dcd", "da"])
                # From panel to panel.
                for key in ("3", "1", "2", "3", "tab", "4", "5", "escape", "4", "enter", "1", "d"):
                    screen.app.post_message(events.Key(key, key if len(key) == 1 else None))
                await screen.until(lambda: screen.titles == ["da"] and screen.is_sent)
                self.assertEqual(screen.app.query_one("#first", Input).value, "123")
                self.assertEqual(screen.app.query_one("#second", Input).value, "45")
                loader = await screen.client.open(LOADING, store_name(GALLERY[0][0]))
                await loader.wait_until(lambda state: state["type"] == "loading")

        run(test())

    def test_a_narrow_window(self) -> None:
        async def test() -> None:
            async with await Server.start("--test") as server, terminal(server.url, size=(46, 20)) as screen:
                await screen.focus("a", "#title")
                await screen.type("A title of some length")
                await screen.press("enter")
                await screen.until(lambda: "○ A title of some length" in screen.keep("narrow"))
                await screen.press("escape", "4")
                await screen.until(lambda: "Debounced" in screen.keep("narrow-loaders"))

        run(test())

    def test_changes_of_a_pending_todo(self) -> None:
        async def test() -> None:
            address = f"127.0.0.1:{free_port()}"
            with folder() as data:
                options = ("--data-dir", data)
                server = await Server.start(*options, listen=("--tcp", address))
                async with terminal(f"tcp://{address}") as screen:
                    await screen.until(lambda: "No tasks" in screen.keep("sending"))
                    await server.kill()
                    await screen.until(lambda: "Connection lost" in screen.head)
                    await screen.focus("a", "#title")
                    for title in ("Milk", "Bread", "Eggs"):
                        await screen.type(title)
                        await screen.press("enter")
                    await screen.press("escape")
                    self.assertIn("◌ Milk", screen.keep("sending"))
                    await screen.press("home", "d", "space", "r")
                    await screen.type("!")
                    await screen.press("enter", "J")
                    await screen.until(lambda: screen.titles == ["Eggs", "Bread!"])
                    # `q` asks before it quits.
                    await screen.press("q")
                    await screen.until(lambda: isinstance(screen.app.screen, Leaving))
                    await screen.until(lambda: "7 changes not sent" in screen.keep("leaving"))
                    await screen.press("escape")
                    await screen.until(lambda: not isinstance(screen.app.screen, Leaving))
                    server = await Server.start(*options, listen=("--tcp", address))
                    await screen.until(lambda: screen.is_sent)
                    self.assertEqual(screen.text("#todo-problem"), "")
                    async with Client(f"tcp://{address}") as other:
                        todo = await other.open(TODO)
                        await todo.send({"type": "stateRequested"}, settle=True)
                        assert todo.state["type"] == "content"
                        self.assertEqual(
                            [(row["title"], row["completed"]) for row in todo.state["todos"]],
                            [("Eggs", False), ("Bread!", True)])
                    self.assertIn("○ Eggs", screen.keep("sent"))
                await server.kill()

        run(test())

    def test_lost_session_loses_no_change(self) -> None:
        """A server without a journal restarts; it is unknown whether sent inputs were applied."""

        async def test() -> None:
            with folder() as data:
                address = f"127.0.0.1:{free_port()}"
                state = mock.patch.dict(os.environ, XDG_STATE_HOME=data)
                with state, mock.patch("tests.support.STATE", mock.Mock(name=data)) as kept:
                    kept.name = data
                    server = await Server.start(listen=("--tcp", address))
                    async with terminal(f"tcp://{address}") as screen:
                        await screen.until(lambda: "No tasks" in screen.keep("gone"))
                        os.kill(server.process.pid, signal.SIGSTOP)
                        await screen.focus("a", "#title")
                        await screen.type("Milk")
                        await screen.press("enter", "escape", "r")
                        await screen.type("!")
                        await screen.press("enter")
                        await server.kill()
                        server = await Server.start(listen=("--tcp", address))
                        await screen.until(lambda: screen.client.reconnects == 1 and screen.is_sent)
                        await screen.until(lambda: screen.titles == ["Milk!"])
                        self.assertEqual(screen.text("#todo-problem"), "")
                    await server.kill()

        run(test())

    def test_failed_effect_restores_the_title(self) -> None:
        async def test() -> None:
            async with await Server.start("--test") as server, terminal(server.url) as screen:
                await screen.until(lambda: "No tasks" in screen.keep("fail"))
                await screen.client.request("test/injectFault", {
                    "store": "todo", "operation": "addTodo", "fault": {"type": "fail"}})
                line = screen.app.query_one("#title", Input)
                await screen.focus("a", "#title")
                await screen.type("Milk")
                await screen.press("enter")
                await screen.until(lambda: line.value == "Milk")
                self.assertTrue(screen.text("#todo-problem"))
                # The list can be reloaded and the todo sent again.
                await screen.press("escape", "g")
                await screen.until(lambda: "No tasks" in screen.keep("fail"))
                await screen.focus("a", "#title")
                await screen.press("enter")
                await screen.until(lambda: screen.titles == ["Milk"] and screen.is_sent)

        run(test())

    def test_refused_field_keeps_its_text(self) -> None:
        async def test() -> None:
            async with await Server.start("--test", "--maximum-field-bytes", "10") as server:
                async with terminal(server.url) as screen:
                    await screen.until(lambda: "at least 5" in screen.text("#messages"))
                    first = screen.app.query_one("#first", Input)
                    await screen.focus("3", "#first")
                    await screen.type("12345")
                    await screen.until(lambda: "must match" in screen.text("#messages"))
                    screen.app.post_message(events.Paste("67890 and more"))
                    await screen.until(lambda: screen.text("#submitted"))
                    said = screen.text("#submitted")
                    # Changes of other clients and further input do not remove it.
                    async with Client(server.url, session=screen.client.session) as other:
                        form = await other.open(FORM)
                        await form.send({"type": "secondEntryChanged", "value": "12345"})
                    await screen.until(lambda: not screen.app.query_one("#submit", Button).disabled)
                    await screen.focus("tab", "#second")
                    await screen.press("enter")
                    await screen.client.request("ping")
                    self.assertEqual(first.value, "1234567890 and more")
                    self.assertEqual(screen.text("#submitted"), said)
                    await screen.press("escape")
                    await screen.focus("3", "#first")
                    await screen.press("ctrl+u")
                    await screen.type("12345")
                    await screen.until(lambda: screen.text("#submitted") == "")
                    await screen.until(lambda: not screen.app.query_one("#submit", Button).disabled)
                    await screen.focus("tab", "#second")
                    await screen.press("enter")
                    await screen.until(lambda: "✓ Saved" in screen.text("#submitted"))

        run(test())

    def test_text_typed_before_the_connection_is_kept(self) -> None:
        async def test() -> None:
            address = f"127.0.0.1:{free_port()}"
            async with terminal(f"tcp://{address}") as screen:
                await screen.focus("a", "#title")
                await screen.type("Milk")
                await screen.press("enter")
                self.assertIn("Not connected", screen.text("#todo-problem"))
                self.assertEqual(screen.app.query_one("#title", Input).value, "Milk")
                await screen.press("escape")
                await screen.focus("3", "#first")
                await screen.type("12345")
                async with await Server.start("--test", listen=("--tcp", address)) as server:
                    await screen.until(lambda: "must match" in screen.text("#messages"))
                    self.assertEqual(screen.app.query_one("#first", Input).value, "12345")
                    await screen.press("escape")
                    await screen.focus("1", "TodoList")
                    await screen.focus("a", "#title")
                    await screen.press("enter")
                    await screen.until(lambda: screen.titles == ["Milk"] and screen.is_sent)
                    await server.kill()

        run(test())

    def test_title_above_the_limits_stays_in_the_field(self) -> None:
        async def test() -> None:
            async with await Server.start("--maximum-frame-bytes", "20000") as server:
                async with terminal(server.url) as screen:
                    await screen.until(lambda: screen.client.status == "connected")
                    await screen.until(lambda: screen.app.query_one(TodoPanel)._store)
                    line = screen.app.query_one("#title", Input)
                    await screen.focus("a", "#title")
                    for text, limit in (("😀" * 1100, "4096"), ("x" * 30_000, "20000")):
                        line.value = ""
                        screen.app.post_message(events.Paste(text))
                        await screen.until(lambda text=text: line.value == text)  # type: ignore[misc]
                        await screen.press("enter")
                        await screen.until(
                            lambda limit=limit: limit in screen.text("#todo-problem"))  # type: ignore[misc]
                        await screen.until(lambda text=text: line.value == text)  # type: ignore[misc]
                    self.assertEqual(screen.client._inputs.count, 0)

        run(test())

    def test_long_list_draws_visible_rows_only(self) -> None:
        async def test() -> None:
            async with await Server.start() as server, terminal(server.url) as screen:
                await screen.until(lambda: screen.client.status == "connected")
                rows = screen.app.query_one(TodoList)
                # The list of the server has arrived, and no other follows.
                await screen.until(lambda: "No tasks" in screen.keep("long"))
                rows.show([
                    {"id": str(number), "title": f"Todo {number} {'x' * 50}", "completed": number % 2 == 0}
                    for number in range(10_000)])
                await screen.press("end")
                await screen.until(lambda: "Todo 9999 x" in screen.keep("long"))
                self.assertIn("…", screen.keep("long"))
                await screen.press("home")
                await screen.until(lambda: "Todo 0 x" in screen.keep("long"))

        run(test())

    def test_form_validates_while_typing(self) -> None:
        async def test() -> None:
            async with await Server.start("--test") as server, terminal(server.url) as screen:
                await screen.until(lambda: "at least 5" in screen.text("#messages"))
                await screen.focus("3", "#first")
                await screen.type("1234")
                await screen.until(lambda: "must match" in screen.text("#messages"))
                await screen.until(lambda: "••••" in screen.keep("form"))
                shown = screen.keep("form")
                self.assertNotIn("1234", shown)
                await screen.type("5")
                await screen.focus("tab", "#second")
                await screen.type("12345")
                await screen.until(lambda: not screen.app.query_one("#submit", Button).disabled)
                self.assertEqual(screen.text("#messages"), "")
                await screen.press("enter")
                await screen.until(lambda: "✓ Saved" in screen.text("#submitted"))
                await screen.press("ctrl+t")
                await screen.until(lambda: "12345" in screen.keep("form-shown"))

                # The text of another client is shown.
                async with Client(server.url, session=screen.client.session) as other:
                    form = await other.open(FORM)
                    await form.send({"type": "firstEntryChanged", "value": "theirs"})
                    await screen.until(lambda: screen.app.query_one("#first", Input).value == "theirs")
                # Digits are text in an entry; outside an entry they move the focus.
                await screen.press("escape")
                await screen.until(lambda: screen.app.focused is None)
                await screen.focus("4", "#loaders")

        run(test())

    def test_the_balance_is_hidden_while_no_frontend_is_active(self) -> None:
        async def test() -> None:
            async with await Server.start("--test") as server, terminal(server.url) as screen:
                amount = screen.app.query_one("#amount", Digits)
                await screen.until(lambda: amount.value == "$1.23")
                await screen.app.on_app_blur()
                await screen.until(lambda: amount.value == "•••••")
                self.assertIn("Hidden", screen.text("#balance-info"))
                await screen.app.on_app_focus()
                await screen.until(lambda: amount.value == "$1.23")
                await screen.client.request("test/injectFault", {
                    "store": "balance", "operation": "balance", "fault": {"type": "fail"}})
                await screen.focus("2", "#balance")
                await screen.press("r")
                balance = await screen.client.open(BALANCE)
                await screen.until(lambda: balance.state["didFail"])
                await screen.until(lambda: balance.state["infoText"] == screen.text("#balance-info"))
                self.assertTrue(screen.app.query_one("#balance-info").has_class("problem"))
                screen.keep("balance-failed")

        run(test())

    def test_the_gallery_of_loaders(self) -> None:
        async def test() -> None:
            async with await Server.start("--test") as server, terminal(server.url) as screen:
                panel = screen.app.query_one(LoaderPanel)
                await screen.until(lambda: all(line.store for line in panel.lines))
                await screen.focus("4", "#loaders")
                await screen.press("enter")
                await screen.until(lambda: panel.current.state and panel.current.state["type"] == "loading")
                await screen.client.request("test/advanceClock", {"by": 2})
                await screen.until(lambda: "52%" in screen.loader("Download"))
                await screen.press("c")
                await screen.until(lambda: "stopped" in screen.loader("Download"))
                self.assertIn("Cancelled", str(panel.border_subtitle))
                await screen.press("x")
                await screen.until(lambda: panel.current.state == {"type": "idle"})
                await screen.press("enter", "down")
                await screen.until(lambda: panel.current.title == "Retried")
                await screen.press("enter")
                await screen.until(lambda: panel.current.state and panel.current.state["type"] == "loading")
                await screen.client.request("test/advanceClock", {"by": 1.5})
                await screen.until(lambda: "2/3" in screen.loader("Retried"))
                self.assertIn("attempt 2 of 3", str(panel.border_subtitle))
                screen.keep("loaders")
                await screen.client.request("test/advanceClock", {"by": 20})
                await screen.until(lambda: "✗" in screen.loader("Retried"))
                self.assertIn("The source did not respond", str(panel.border_subtitle))
                await screen.until(lambda: "✓" in screen.loader("Download"))
                await screen.press("up")
                await screen.until(lambda: "4.2 MB" in str(panel.border_subtitle))

        run(test())

    def test_attach_to_session_of_another_client(self) -> None:
        async def test() -> None:
            async with await Server.start("--test") as server, Client(server.url) as page:
                # Another client has opened this loader with another configuration; both share the store.
                name, _ = GALLERY[0]
                loader = await page.open(LOADING, store_name(name), {"type": "mock", "states": [
                    {"state": {"type": "loaded", "value": "shared"}}]})
                todo = await page.open(TODO)
                await todo.send({"type": "stateRequested"}, settle=True)
                await todo.send({"type": "todoAdded", "title": "Theirs"}, settle=True)
                async with terminal(server.url, page.session) as screen:
                    await screen.until(lambda: screen.titles == ["Theirs"])
                    await screen.until(lambda: "2 online" in screen.head)
                    await screen.focus("a", "#title")
                    await screen.type("Ours")
                    await screen.press("enter", "escape")
                    await todo.wait_until(
                        lambda state: state["type"] == "content" and len(state["todos"]) == 2)
                    await screen.until(lambda: all(
                        line.store for line in screen.app.query_one(LoaderPanel).lines))
                    await screen.focus("4", "#loaders")
                    await screen.press("enter")
                    await loader.wait_until(lambda state: state["type"] == "loaded")
                    await screen.until(lambda: "✓" in screen.loader(name))
                    await screen.press("s")
                    await screen.until(lambda: isinstance(screen.app.screen, Sharing))
                    await screen.until(lambda: page.session and page.session in screen.keep("sharing"))
                    await screen.press("escape")
                    await page.end_session()
                    await screen.until(lambda: "The session was closed" in screen.head)

        run(test())

    def test_resumes_after_the_server_was_killed(self) -> None:
        async def test() -> None:
            with folder() as data:
                address = f"127.0.0.1:{free_port()}"
                options = ("--data-dir", data)
                server = await Server.start(*options, listen=("--tcp", address))
                async with terminal(f"tcp://{address}") as screen:
                    await screen.focus("a", "#title")
                    await screen.type("Before")
                    await screen.press("enter", "escape")
                    await screen.until(lambda: screen.titles == ["Before"])
                    await screen.focus("3", "#first")
                    await screen.type("typed")
                    await screen.until(lambda: "must match" in screen.text("#messages"))
                    await server.kill()
                    await screen.until(lambda: "Connection lost" in screen.head)
                    self.assertIn("Connection lost", screen.keep("lost"))
                    # Actions while disconnected are shown and applied after the reconnection.
                    await screen.type("!")
                    await screen.press("escape")
                    await screen.until(lambda: screen.app.focused is None)
                    await screen.focus("1", "TodoList")
                    await screen.focus("a", "#title")
                    await screen.type("Amid it")
                    await screen.press("enter", "escape")
                    await screen.until(lambda: screen.titles == ["Before", "Amid it"])
                    server = await Server.start(*options, listen=("--tcp", address))
                    await screen.until(lambda: "● Connected" in screen.head)
                    async with Client(f"tcp://{address}", session=screen.client.session) as other:
                        todo = await other.open(TODO)
                        await todo.wait_until(
                            lambda state: state["type"] == "content" and
                            [t["title"] for t in state["todos"]] == ["Before", "Amid it"])
                        form = await other.open(FORM)
                        await form.wait_until(lambda state: state["firstEntry"] == "typed!")
                    self.assertEqual(screen.app.query_one("#first", Input).value, "typed!")
                    screen.keep("resumed")
                await server.kill()

        run(test())

    def test_light_theme(self) -> None:
        async def test() -> None:
            async with await Server.start("--test") as server, terminal(server.url) as screen:
                await screen.until(lambda: "Connected" in screen.head)
                await screen.press("t")
                screen.keep("light")
                self.assertEqual(screen.app.theme, "statewire-light")

        run(test())


class CommandTests(unittest.TestCase):
    def test_arguments(self) -> None:
        for words, problem in (
            (["--session", "x"], "--session requires --connect"),
            (["--nonsense"], "unrecognized arguments"),
        ):
            with mock.patch.object(sys, "argv", ["statewire-tui", *words]):
                output = io.StringIO()
                with contextlib.redirect_stderr(output), self.assertRaises(SystemExit):
                    main()
                self.assertIn(problem, output.getvalue())

    def test_starts_its_own_server(self) -> None:
        """Runs in a pseudo-terminal until `q`."""

        async def test() -> None:
            import pty

            outside, inside = pty.openpty()
            with folder() as data:
                process = await asyncio.create_subprocess_exec(
                    sys.executable, "-m", "statewire.tui", stdin=inside, stdout=inside, stderr=inside,
                    env={**os.environ, "STATEWIRE": PROGRAM, "XDG_STATE_HOME": data, "TERM": "xterm-256color",
                         "COLUMNS": "80", "LINES": "24"})
                os.close(inside)
                seen = b""
                loop = asyncio.get_running_loop()
                while b"Connected" not in seen:
                    seen += await loop.run_in_executor(None, os.read, outside, 65_536)
                os.write(outside, b"q")
                with contextlib.suppress(OSError):  # The other end of the terminal is closed.
                    while await loop.run_in_executor(None, os.read, outside, 65_536):
                        pass
                self.assertEqual(await process.wait(), 0)
                os.close(outside)

        run(test())

    def test_terminal_output_has_no_control_sequence_of_a_title(self) -> None:
        """The output has no control sequence from a title."""

        async def test() -> None:
            import pty

            outside, inside = pty.openpty()
            async with await Server.start("--test") as server, Client(server.url) as other:
                todo = await other.open(TODO)
                await todo.send({"type": "stateRequested"}, settle=True)
                await todo.send({"type": "todoAdded", "title": f"{HOSTILE}\x9d0;Q\x9c"}, settle=True)
                assert other.session
                process = await asyncio.create_subprocess_exec(
                    sys.executable, "-m", "statewire.tui",
                    "--connect", server.url, "--session", other.session,
                    stdin=inside, stdout=inside, stderr=inside,
                    env={**os.environ, "TERM": "xterm-256color", "COLUMNS": "80", "LINES": "24"})
                os.close(inside)
                seen = b""
                loop = asyncio.get_running_loop()

                async def read(until: bytes) -> None:
                    nonlocal seen
                    while until not in seen:
                        seen += await loop.run_in_executor(None, os.read, outside, 65_536)

                await read("␛]2;P␇␛[2J".encode())
                os.write(outside, b"r")
                await read(b"Renaming")
                os.write(outside, b"\r")
                os.write(outside, b"q")
                with contextlib.suppress(OSError):  # The other end of the terminal is closed.
                    while part := await loop.run_in_executor(None, os.read, outside, 65_536):
                        seen += part
                self.assertEqual(await process.wait(), 0)
                os.close(outside)
                # Textual writes `OSC 22`, the shape of the pointer.
                commands = ("\x1b]2;", "P\x07", "\x1b[2J", "\x9b", "\x9d", "\x9c", "\u202e", "\x7f")
                self.assertEqual([command for command in commands if command.encode() in seen], [])
                self.assertEqual(todo.revision, 2)

        run(test())

    def test_missing_dependency_is_reported(self) -> None:
        with mock.patch.object(sys, "argv", ["statewire-tui"]), mock.patch.dict(os.environ, clear=True):
            output = io.StringIO()
            with contextlib.redirect_stderr(output), self.assertRaises(SystemExit):
                main()
            self.assertIn("cannot find the program statewire", output.getvalue())
        without = "import sys; sys.modules['textual'] = None; sys.argv[1:] = ['--connect', 'tcp://a:1'];"
        done = subprocess.run(
            [sys.executable, "-c", f"{without} from statewire.tui import main; main()"],
            capture_output=True, text=True, check=False)
        self.assertIn("pip install", done.stderr)
        self.assertEqual(done.returncode, 1)


if __name__ == "__main__":
    unittest.main()

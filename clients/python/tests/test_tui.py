# SPDX-License-Identifier: Apache-2.0
"""The terminal at 80 × 24, by its keys. What it shows is kept as SVG where SCREENSHOTS says."""

from __future__ import annotations

import asyncio
import contextlib
import io
import logging
import os
import pathlib
import subprocess
import sys
import unittest
from collections.abc import AsyncIterator, Callable
from unittest import mock

from textual.pilot import Pilot
from textual.widgets import Button, Digits, Input, Static

from statewire import BALANCE, FORM, LOADING, TODO, Backoff, Client
from statewire.tui import main
from statewire.tui.app import Sharing, StatewireApp
from statewire.tui.gallery import GALLERY, store_name
from statewire.tui.head import Head
from statewire.tui.loaders import LoaderLine, LoaderPanel
from statewire.tui.todos import TodoList, TodoPanel

from .support import PROGRAM, PROJECT, Server, folder, free_port, run

SOON = Backoff(base=0.01, longest=0.1)
SCREENSHOTS = pathlib.Path(
    os.environ.get("SCREENSHOTS") or PROJECT / ".build" / "clients" / "screenshots")


class Terminal:
    """The terminal, and who looks at it and presses its keys."""

    def __init__(self, app: StatewireApp, pilot: Pilot[None]) -> None:
        self.app, self.pilot = app, pilot

    async def until(self, condition: Callable[[], object]) -> None:
        """Waits until something is so; the test hangs, and is ended, if it never is."""
        while not condition():
            await self.pilot.pause(0.01)

    async def type(self, text: str) -> None:
        names = {" ": "space", ",": "comma", "!": "exclamation_mark"}
        await self.pilot.press(*(names.get(letter, letter) for letter in text))

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)

    async def focus(self, key: str, selector: str) -> None:
        """Presses a key that leads somewhere."""
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
    def head(self) -> str:
        return self.app.query_one(Head).render().plain

    def text(self, selector: str) -> str:
        return str(self.app.query_one(selector, Static).render())

    def loader(self, name: str) -> str:
        return self.app.query_one(f"#{store_name(name)}", LoaderLine).render().plain

    def keep(self, name: str) -> str:
        """What it shows, as text; kept as a picture."""
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)
        (SCREENSHOTS / f"{name}.svg").write_text(
            self.app.export_screenshot(title="statewire-tui"), encoding="utf-8")
        rows = self.app.screen._compositor.render_strips()
        return "\n".join(strip.text for strip in rows)


async def soon(*_: float) -> None:
    """Textual waits after each key until the process has nothing to do, which takes a second on a busy
    machine; these tests wait for what they expect."""
    await asyncio.sleep(0.001)


@contextlib.asynccontextmanager
async def terminal(url: str, session: str | None = None) -> AsyncIterator[Terminal]:
    app = StatewireApp(lambda: Client(url, session=session, backoff=SOON, is_patient=True))
    with mock.patch("textual.app.wait_for_idle", soon), mock.patch("textual.pilot.wait_for_idle", soon):
        async with app.run_test(size=(80, 24)) as pilot:
            yield Terminal(app, pilot)


class TerminalTests(unittest.TestCase):
    def setUp(self) -> None:
        logging.disable(logging.WARNING)

    def tearDown(self) -> None:
        logging.disable(logging.NOTSET)

    def test_the_list_by_keys_alone(self) -> None:
        async def test() -> None:
            async with await Server.start("--test") as server, terminal(server.url) as screen:
                await screen.until(lambda: "Nothing is left to do." in screen.keep("empty"))
                await screen.focus("a", "#title")
                for title in ("Milk", "Bread", "Call Ada"):
                    await screen.type(title)
                    await screen.press("enter")
                await screen.press("escape")
                await screen.until(lambda: screen.titles == ["Milk", "Bread", "Call Ada"])
                rows = screen.app.query_one(TodoList)
                await screen.until(lambda: not any(t["id"].startswith("new") for t in rows.todos))
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
                await screen.until(lambda: "1 of 2 left" in str(screen.app.query_one(TodoPanel).border_title))

                # All of it is the server's, too.
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

    def test_what_is_refused_is_told_and_taken_back(self) -> None:
        async def test() -> None:
            async with await Server.start("--maximum-title-bytes", "10") as server:
                async with terminal(server.url) as screen:
                    await screen.focus("a", "#title")
                    await screen.type("much too long")
                    await screen.press("enter")
                    await screen.until(lambda: screen.text("#todo-problem"))
                    self.assertEqual(screen.titles, [])
                    await screen.type("short")
                    await screen.press("enter")
                    await screen.until(lambda: screen.titles == ["short"])
                    self.assertEqual(screen.text("#todo-problem"), "")

        run(test())

    def test_a_long_list_draws_what_is_seen(self) -> None:
        async def test() -> None:
            async with await Server.start() as server, terminal(server.url) as screen:
                await screen.until(lambda: screen.client.status == "open")
                rows = screen.app.query_one(TodoList)
                # The server's own list has come, and no other follows.
                await screen.until(lambda: "Nothing is left to do." in screen.keep("long"))
                rows.show([
                    {"id": str(number), "title": f"Todo {number} {'x' * 50}", "completed": number % 2 == 0}
                    for number in range(10_000)])
                await screen.press("end")
                await screen.until(lambda: "Todo 9999 x" in screen.keep("long"))
                self.assertIn("…", screen.keep("long"))
                await screen.press("home")
                await screen.until(lambda: "Todo 0 x" in screen.keep("long"))

        run(test())

    def test_the_form_tells_as_one_types(self) -> None:
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
                await screen.until(lambda: "It is set" in screen.text("#submitted"))
                await screen.press("ctrl+t")
                await screen.until(lambda: "12345" in screen.keep("form-shown"))

                # What somebody else types appears here.
                async with Client(server.url, session=screen.client.session) as other:
                    form = await other.open(FORM)
                    await form.send({"type": "firstEntryChanged", "value": "theirs"})
                    await screen.until(lambda: screen.app.query_one("#first", Input).value == "theirs")
                # Digits are text in an entry; outside they lead somewhere.
                await screen.press("escape")
                await screen.until(lambda: screen.app.focused is None)
                await screen.focus("4", "#loaders")

        run(test())

    def test_the_balance_is_hidden_while_nobody_looks(self) -> None:
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
                await screen.until(lambda: panel.current.title == "Unsteady")
                await screen.press("enter")
                await screen.until(lambda: panel.current.state and panel.current.state["type"] == "loading")
                await screen.client.request("test/advanceClock", {"by": 1.5})
                await screen.until(lambda: "2/3" in screen.loader("Unsteady"))
                self.assertIn("attempt 2 of 3", str(panel.border_subtitle))
                screen.keep("loaders")
                await screen.client.request("test/advanceClock", {"by": 20})
                await screen.until(lambda: "✗" in screen.loader("Unsteady"))
                self.assertIn("It did not answer", str(panel.border_subtitle))
                await screen.until(lambda: "✓" in screen.loader("Download"))
                await screen.press("up")
                await screen.until(lambda: "4.2 MB" in str(panel.border_subtitle))

        run(test())

    def test_on_the_session_of_somebody_else(self) -> None:
        async def test() -> None:
            async with await Server.start("--test") as server, Client(server.url) as page:
                # The page has a loader of another configuration under this name; it is the same for both.
                name, _ = GALLERY[0]
                loader = await page.open(LOADING, store_name(name), {"type": "mock", "states": [
                    {"state": {"type": "loaded", "value": "the page's"}}]})
                todo = await page.open(TODO)
                await todo.send({"type": "stateRequested"}, settle=True)
                await todo.send({"type": "todoAdded", "title": "Theirs"}, settle=True)
                async with terminal(server.url, page.session) as screen:
                    await screen.until(lambda: screen.titles == ["Theirs"])
                    await screen.until(lambda: "2 here" in screen.head)
                    await screen.focus("a", "#title")
                    await screen.type("Ours")
                    await screen.press("enter", "escape")
                    await todo.wait_for(
                        lambda state: state["type"] == "content" and len(state["todos"]) == 2)
                    await screen.until(lambda: all(
                        line.store for line in screen.app.query_one(LoaderPanel).lines))
                    await screen.focus("4", "#loaders")
                    await screen.press("enter")
                    await loader.wait_for(lambda state: state["type"] == "loaded")
                    await screen.until(lambda: "✓" in screen.loader(name))
                    await screen.press("s")
                    await screen.until(lambda: isinstance(screen.app.screen, Sharing))
                    await screen.until(lambda: page.session and page.session in screen.keep("sharing"))
                    await screen.press("escape")
                    await page.close(end_session=True)
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
                    # What is done meanwhile is drawn, and done when the server is there again.
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
                        await todo.wait_for(
                            lambda state: state["type"] == "content" and
                            [t["title"] for t in state["todos"]] == ["Before", "Amid it"])
                        form = await other.open(FORM)
                        await form.wait_for(lambda state: state["firstEntry"] == "typed!")
                    self.assertEqual(screen.app.query_one("#first", Input).value, "typed!")
                    screen.keep("resumed")
                await server.kill()

        run(test())

    def test_in_the_light(self) -> None:
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
            (["--session", "x"], "--session needs --connect"),
            (["--nonsense"], "unrecognized arguments"),
        ):
            with mock.patch.object(sys, "argv", ["statewire-tui", *words]):
                told = io.StringIO()
                with contextlib.redirect_stderr(told), self.assertRaises(SystemExit):
                    main()
                self.assertIn(problem, told.getvalue())

    def test_starts_a_server_of_its_own(self) -> None:
        """In a real terminal, until `q`."""

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
                with contextlib.suppress(OSError):  # A terminal that nobody has open any more.
                    while await loop.run_in_executor(None, os.read, outside, 65_536):
                        pass
                self.assertEqual(await process.wait(), 0)
                os.close(outside)

        run(test())

    def test_says_what_is_missing(self) -> None:
        with mock.patch.object(sys, "argv", ["statewire-tui"]), mock.patch.dict(os.environ, clear=True):
            told = io.StringIO()
            with contextlib.redirect_stderr(told), self.assertRaises(SystemExit):
                main()
            self.assertIn("no statewire in the path", told.getvalue())
        without = "import sys; sys.modules['textual'] = None; sys.argv[1:] = ['--connect', 'tcp://a:1'];"
        done = subprocess.run(
            [sys.executable, "-c", f"{without} from statewire.tui import main; main()"],
            capture_output=True, text=True, check=False)
        self.assertIn("pip install", done.stderr)
        self.assertEqual(done.returncode, 1)


if __name__ == "__main__":
    unittest.main()

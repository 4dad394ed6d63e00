# SPDX-License-Identifier: Apache-2.0
"""Carries out the interactions of Tests/Scripts/unreliable-network with the terminal program: URL SCALE."""

import asyncio
import sys

from python_driver import client_for, lines, say
from textual.widgets import Input, Static

from statewire.tui.app import StatewireApp
from statewire.tui.todos import TodoList, TodoPanel


class Hands:
    """Carries out interactions with the keyboard and the mouse."""

    def __init__(self, app, pilot):
        self.app, self.pilot = app, pilot
        # Each error that was shown; the line with the newest one is read at each interaction.
        self.words, self.last = [], ""

    @property
    def list(self):
        return self.app.query_one(TodoList)

    def note(self):
        line = self.app.query_one("#todo-problem", Static)
        text = str(line.render()) if line.display else ""
        text = text.removesuffix(". Your text is restored when the field is empty")
        if text and text != self.last:
            self.words.append(text)
        self.last = text

    def shown(self):
        return [[todo["title"], todo["completed"]] for todo in self.list.todos]

    async def select(self, title):
        """Selects the row with a title; returns False if there is none."""
        titles = [shown for shown, _ in self.shown()]
        if title not in titles:
            return False
        await self.pilot.click(TodoList, offset=(10, titles.index(title)))
        return True

    async def submit(self, title, times):
        """Sets the title in the line, as a paste does, and presses Enter."""
        # Records the error of a title that was given back since the last interaction.
        self.note()
        self.app.query_one("#title", Input).value = title
        for _ in range(times):
            await self.pilot.press("enter")
        await self.pilot.press("escape")

    async def act(self, interaction):
        act, twice = interaction["act"], interaction.get("twice", False)
        if act in ("add", "refused"):
            self.list.focus()
            await self.pilot.press("a")
            await self.submit(interaction["title"], 2 if twice else 1)
            return {}
        if not await self.select(interaction["row"]):
            return {"missing": True}
        if act == "rename":
            await self.pilot.press("r")
            await self.submit(interaction["title"], 1)
        elif act == "tick":
            await self.pilot.press(*["space"] * (2 if twice else 1))
        elif act == "remove":
            # A second `d` would remove the next row, which is then selected.
            await self.pilot.press("d")
        elif act == "move":
            await self.pilot.press("shift+up" if interaction["to"] < interaction["from"] else "shift+down")
        return {}

    async def respond(self, interaction):
        self.note()
        if interaction["act"] == "look":
            await self.pilot.pause()
            return {"shown": self.shown()}
        if interaction["act"] == "end":
            client = self.app._client
            return {"pending": client._inputs.count + (client.status != "connected"), "shown": self.shown(),
                    "words": self.words, "reconnects": client.reconnects}
        return await self.act(interaction)


async def main():
    url, scale = sys.argv[1], float(sys.argv[2])
    app = StatewireApp(lambda: client_for(url, scale))
    async with app.run_test(size=(120, 60)) as pilot:
        while app.query_one(TodoPanel).empty_text != "No tasks":
            await pilot.pause(0.02)
        hands = Hands(app, pilot)
        say({"ready": True})
        async for interaction in lines():
            try:
                say(await hands.respond(interaction))
            except Exception as error:
                say({"failed": repr(error)})


asyncio.run(main())

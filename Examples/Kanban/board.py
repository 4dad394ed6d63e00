# SPDX-License-Identifier: Apache-2.0
"""Adds a card to the board, and draws the board after each change: board.py ADDRESS [TITLE]"""

import asyncio
import sys

from desk import DESK, DeskInputs, DeskState
from statewire import Client


def drawing(state: DeskState) -> str:
    board = state["kanban"]["board"]
    lines = [f"{card['title']}: to do" for card in board["todo"]]
    lines += [f"{card['title']}: doing" for card in board["doing"]]
    lines += [f"{card['title']}: done" for card in board["done"]]
    return "\n".join([*lines, f"({state['kanban']['saving']})"])


async def main(address: str, title: str | None = None) -> None:
    async with Client(address) as client:
        desk = await client.open(DESK)
        if title is not None:
            await desk.send(DeskInputs.kanban.card_added(title=title, column="todo"))
        async for state in desk:
            print(drawing(state), flush=True)
            if state["kanban"]["saving"] == "saved":
                break


asyncio.run(main(*sys.argv[1:]))

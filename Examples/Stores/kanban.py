# SPDX-License-Identifier: Apache-2.0
"""A kanban board whose last changes can be undone, and which is saved one second after the last change.

It has the inputs and view states of Examples/Kanban/Kanban.swift. KANBAN_FILE is the file (board.json).
"""

import json
import os
import pathlib
from dataclasses import dataclass, field, replace
from typing import Literal

from statewire.stores import Refusal, StoreKind, run, serve

Saving = Literal["saving", "saved", "failed"]
Column = Literal["todo", "doing", "done"]


@dataclass(frozen=True)
class Card:
    id: str
    title: str


@dataclass(frozen=True)
class Board:
    todo: list[Card] = field(default_factory=list)
    doing: list[Card] = field(default_factory=list)
    done: list[Card] = field(default_factory=list)

    def without(self, id: str) -> "Board":
        # A column without the card stays the same object, so it is neither compared nor sent.
        return Board(**{
            name: [card for card in cards if card.id != id] if any(card.id == id for card in cards) else cards
            for name, cards in vars(self).items()
        })  # fmt: skip

    def including(self, card: Card, column: Column, before: str | None = None) -> "Board":
        cards = getattr(self, column)
        index = next((index for index, other in enumerate(cards) if other.id == before), len(cards))
        return replace(self, **{column: [*cards[:index], card, *cards[index:]]})


@dataclass(frozen=True)
class State:
    board: Board = field(default_factory=Board)
    undo: list[Board] = field(default_factory=list)
    redo: list[Board] = field(default_factory=list)
    changes: int = 0
    # Undo and redo count here too: work that has saved an older board changes nothing.
    edits: int = 0
    saving: Saving = "saved"


@dataclass(frozen=True)
class ViewState:
    board: Board
    canUndo: bool
    canRedo: bool
    saving: Saving


@dataclass(frozen=True)
class CardAdded:
    title: str
    column: Column


@dataclass(frozen=True)
class CardMoved:
    id: str
    column: Column
    before: str | None = None


@dataclass(frozen=True)
class CardRemoved:
    id: str


@dataclass(frozen=True)
class UndoTapped: ...


@dataclass(frozen=True)
class RedoTapped: ...


@dataclass(frozen=True)
class Saved:
    edits: int


@dataclass(frozen=True)
class SaveFailed: ...


Input = CardAdded | CardMoved | CardRemoved | UndoTapped | RedoTapped


def update(state: State, event: Input | Saved | SaveFailed):  # noqa: ANN201
    board = state.board
    match event:
        case CardAdded(title=""):
            raise Refusal("a card needs a title", ["title"])
        case CardAdded(title, column):
            return changed(state, board.including(Card(str(state.changes + 1), title), column))
        case CardMoved(id, column, before):
            card = next((card for cards in vars(board).values() for card in cards if card.id == id), None)
            return card and changed(state, board.without(id).including(card, column, before))
        case CardRemoved(id):
            rest = board.without(id)
            return changed(state, rest) if rest != board else state
        case UndoTapped() if state.undo:
            back = replace(state, board=state.undo[-1], undo=state.undo[:-1], redo=[*state.redo, board])
            return saving(back)
        case RedoTapped() if state.redo:
            forth = replace(state, board=state.redo[-1], redo=state.redo[:-1], undo=[*state.undo, board])
            return saving(forth)
        case Saved(edits) if edits == state.edits:
            return replace(state, saving="saved")
        case SaveFailed():
            return replace(state, saving="failed")


def changed(state: State, board: Board):  # noqa: ANN201
    undo = [*state.undo[-49:], state.board]
    return saving(replace(state, board=board, undo=undo, redo=[], changes=state.changes + 1))


def saving(state: State):  # noqa: ANN201
    state = replace(state, edits=state.edits + 1, saving="saving")
    work = {"edits": state.edits, "board": state.board}
    return state, run("save", work, id="save", debounce=1000, latest=True, failed=SaveFailed(), restart="again")


def view(state: State) -> ViewState:
    return ViewState(state.board, bool(state.undo), bool(state.redo), state.saving)


def save(work: dict) -> Saved:
    pathlib.Path(os.environ.get("KANBAN_FILE", "board.json")).write_text(json.dumps(work["board"]))
    return Saved(work["edits"])


kanban = StoreKind(initial=State(), update=update, inputs=Input, view=view, runs={"save": save})
if __name__ == "__main__":
    serve(kanban)

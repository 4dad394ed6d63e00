# SPDX-License-Identifier: Apache-2.0
"""The balance, in figures that one can see from afar; hidden while nobody looks."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import Digits, Static

from ..client import Client
from ..errors import StatewireError
from ..kinds import BALANCE
from ..store import Store
from ..types import BalanceInput, BalanceViewState
from .panel import Panel, follow, reason


class BalancePanel(Panel, can_focus=True):
    """The balance of an account."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("r,enter,space", "refresh", "Refresh", key_display="r")]

    def __init__(self) -> None:
        super().__init__("Your Balance", "2", id="balance")
        self._store: Store[BalanceInput, BalanceViewState] | None = None

    def compose(self) -> ComposeResult:
        yield Digits("--", id="amount")
        yield Static(id="balance-info")

    async def follow(self, client: Client) -> None:
        """Shows the balance as it is and changes."""

        def opened(store: Store[BalanceInput, BalanceViewState]) -> None:
            self._store = store
            if client.role == "driver":
                self._send({"type": "viewDidAppear"})

        await follow(client, BALANCE, None, None, opened, self.show)

    def show(self, state: BalanceViewState) -> None:
        self.entitle(state["title"])
        amount = self.query_one("#amount", Digits)
        amount.update("•••••" if state["isRedacted"] else state["formattedBalance"])
        amount.set_class(state["lastResponse"] is None, "unknown")
        amount.set_class(state["isRefreshing"], "refreshing")
        info = self.query_one("#balance-info", Static)
        text = "Hidden while nobody looks" if state["isRedacted"] else state["infoText"]
        info.update(text or "Not asked yet")
        info.set_class(state["infoColor"] == "failure", "problem")

    def on_click(self) -> None:
        self.action_refresh()

    def action_refresh(self) -> None:
        self._send({"type": "refreshButtonWasTapped"})

    def _send(self, input: BalanceInput) -> None:
        store = self._store
        if store is None:
            return

        async def send() -> None:
            try:
                await store.send(input)
            except StatewireError as error:
                self.query_one("#balance-info", Static).update(reason(error))

        self.run_worker(send(), group="inputs")

# SPDX-License-Identifier: Apache-2.0
"""The balance panel, with large digits. The server redacts the balance while no frontend is active."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import Digits, Static

from ..client import Client
from ..kinds import BALANCE
from ..printing import printable
from ..store import Store
from ..types import BalanceInput, BalanceViewState
from .panel import Panel, follow, plain


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
        """Subscribes to the balance."""

        def opened(store: Store[BalanceInput, BalanceViewState]) -> None:
            self._store = store
            if client.role == "driver":
                self._send({"type": "viewDidAppear"})

        await follow(client, BALANCE, None, None, opened, self.show)

    def show(self, state: BalanceViewState) -> None:
        self.entitle(state["title"])
        amount = self.query_one("#amount", Digits)
        amount.update("•••••" if state["isRedacted"] else printable(state["formattedBalance"]))
        amount.set_class(state["lastResponse"] is None, "unknown")
        amount.set_class(state["isRefreshing"], "refreshing")
        info = self.query_one("#balance-info", Static)
        text = "Hidden while the window is inactive" if state["isRedacted"] else state["infoText"]
        info.update(plain(text or "Not loaded yet"))
        info.set_class(state["infoColor"] == "failure", "problem")

    def on_click(self) -> None:
        self.action_refresh()

    def action_refresh(self) -> None:
        self._send({"type": "refreshButtonWasTapped"})

    def _send(self, input: BalanceInput) -> None:
        self._report_result(self.post(self._store, input, self._report_result))

    def _report_result(self, problem: str | None) -> None:
        if problem:
            self.query_one("#balance-info", Static).update(plain(problem))

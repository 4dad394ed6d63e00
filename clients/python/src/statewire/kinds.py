# SPDX-License-Identifier: Apache-2.0
"""Store kinds with the types of their inputs and view states."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, Generic, TypeVar

from . import types

I = TypeVar("I", bound=Mapping[str, Any])  # noqa: E741
V = TypeVar("V")


@dataclasses.dataclass(frozen=True)
class Kind(Generic[I, V]):
    """A store kind. For a custom one: `Kind[MyInput, MyViewState]("mine")`."""

    name: str


TODO: Kind[types.TodoInput, types.TodoViewState] = Kind("todo")
ADD_TODO: Kind[types.AddTodoInput, types.AddTodoViewState] = Kind("addTodo")
FORM: Kind[types.FormInput, types.FormViewState] = Kind("form")
BALANCE: Kind[types.BalanceInput, types.BalanceViewState] = Kind("balance")
LOADING: Kind[types.LoadingInput, types.LoadingViewState] = Kind("loading")

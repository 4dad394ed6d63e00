# SPDX-License-Identifier: Apache-2.0
"""The types of the protocol: inputs, view states and configurations of the built-in stores."""

from __future__ import annotations

from typing import Any, Literal, TypedDict, Union

# todo


class Todo(TypedDict):
    id: str
    title: str
    completed: bool


class TodoStateRequested(TypedDict):
    type: Literal["stateRequested"]


class TodoAdded(TypedDict):
    type: Literal["todoAdded"]
    title: str


class TodoRemoved(TypedDict):
    type: Literal["todoRemoved"]
    id: str


class TodoRenamed(TypedDict):
    type: Literal["todoRenamed"]
    id: str
    title: str


class TodoCompleted(TypedDict):
    type: Literal["todoCompleted"]
    id: str


class TodoReopened(TypedDict):
    type: Literal["todoReopened"]
    id: str


class _TodoMoved(TypedDict):
    type: Literal["todoMoved"]
    id: str


class TodoMoved(_TodoMoved, total=False):
    before: str | None


TodoInput = Union[
    TodoStateRequested, TodoAdded, TodoRemoved, TodoRenamed, TodoCompleted, TodoReopened, TodoMoved]


class TodoLoading(TypedDict):
    type: Literal["loading"]


class TodoContent(TypedDict):
    type: Literal["content"]
    todos: list[Todo]


class TodoError(TypedDict):
    type: Literal["error"]
    code: str
    message: str


TodoViewState = Union[TodoLoading, TodoContent, TodoError]


class TodoMemory(TypedDict):
    count: int


class TodoConfiguration(TypedDict, total=False):
    list: str
    memory: TodoMemory


# addTodo


class AddTodoValidate(TypedDict):
    type: Literal["validate"]
    title: str


class AddTodoAddTodo(TypedDict):
    type: Literal["addTodo"]
    title: str


AddTodoInput = Union[AddTodoValidate, AddTodoAddTodo]


class AddTodoViewState(TypedDict):
    valid: bool
    loading: bool
    dismiss: bool


# form


class FormFirstEntryChanged(TypedDict):
    type: Literal["firstEntryChanged"]
    value: str


class FormSecondEntryChanged(TypedDict):
    type: Literal["secondEntryChanged"]
    value: str


class FormEntriesChanged(TypedDict):
    type: Literal["entriesChanged"]
    firstEntry: str
    secondEntry: str


class FormSubmitTapped(TypedDict):
    type: Literal["submitTapped"]


FormInput = Union[FormFirstEntryChanged, FormSecondEntryChanged, FormEntriesChanged, FormSubmitTapped]


class FormViewState(TypedDict):
    firstEntry: str
    secondEntry: str
    validationMessages: list[str]
    submitAllowed: bool


class FormEvent(TypedDict):
    type: Literal["submitted"]


# balance


class BalanceViewDidAppear(TypedDict):
    type: Literal["viewDidAppear"]


class BalanceRefreshButtonWasTapped(TypedDict):
    type: Literal["refreshButtonWasTapped"]


class BalanceWillResignActive(TypedDict):
    type: Literal["willResignActive"]


class BalanceDidBecomeActive(TypedDict):
    type: Literal["didBecomeActive"]


BalanceInput = Union[
    BalanceViewDidAppear, BalanceRefreshButtonWasTapped, BalanceWillResignActive, BalanceDidBecomeActive]


class BalanceResponse(TypedDict):
    balance: str
    date: str


class BalanceViewState(TypedDict):
    title: str
    lastResponse: BalanceResponse | None
    isRefreshing: bool
    didFail: bool
    isRedacted: bool
    formattedBalance: str
    infoText: str
    infoColor: Literal["regular", "failure"]


# loading


class LoadingLoad(TypedDict):
    type: Literal["load"]


class LoadingLoadIfNotLoading(TypedDict):
    type: Literal["loadIfNotLoading"]


class LoadingAppear(TypedDict):
    type: Literal["appear"]


class LoadingCancel(TypedDict):
    type: Literal["cancel"]


class LoadingReset(TypedDict):
    type: Literal["reset"]


LoadingInput = Union[LoadingLoad, LoadingLoadIfNotLoading, LoadingAppear, LoadingCancel, LoadingReset]


class LoadingProgress(TypedDict):
    percent: float | None
    message: str | None
    isCancelled: bool


class LoadingFailure(TypedDict):
    code: str
    message: str


class LoadingIdle(TypedDict):
    type: Literal["idle"]


class LoadingLoading(TypedDict):
    type: Literal["loading"]
    progress: LoadingProgress | None


class LoadingLoaded(TypedDict):
    type: Literal["loaded"]
    value: Any


class LoadingFailed(TypedDict):
    type: Literal["failure"]
    error: LoadingFailure


LoadingViewState = Union[LoadingIdle, LoadingLoading, LoadingLoaded, LoadingFailed]

# SPDX-License-Identifier: Apache-2.0
"""The types of the protocol, made by Scripts/generate-clients from the schemas."""

from __future__ import annotations

from typing import Any, Dict, List, Literal, TypeAlias, TypedDict, Union


class AddTodoInputValidate(TypedDict):
    type: Literal["validate"]
    title: str


class AddTodoInputAddTodo(TypedDict):
    type: Literal["addTodo"]
    title: TodoTitle


class AddTodoViewState(TypedDict):
    valid: bool
    loading: bool
    dismiss: bool


class BalanceInputViewDidAppear(TypedDict):
    type: Literal["viewDidAppear"]


class BalanceInputRefreshButtonWasTapped(TypedDict):
    type: Literal["refreshButtonWasTapped"]


class BalanceInputWillResignActive(TypedDict):
    type: Literal["willResignActive"]


class BalanceInputDidBecomeActive(TypedDict):
    type: Literal["didBecomeActive"]


class BalanceResponse(TypedDict):
    balance: DecimalNumber
    date: Timestamp


class BalanceViewState(TypedDict):
    title: str
    lastResponse: Union[BalanceResponse, None]
    isRefreshing: bool
    didFail: bool
    isRedacted: bool
    formattedBalance: str
    infoText: str
    infoColor: BalanceViewStateInfoColor


class CancelRequestParams(TypedDict):
    id: Union[str, float]


class DiscoverDocument(TypedDict):
    openrpc: str
    info: Dict[str, Any]
    methods: List[Dict[str, Any]]


class FormEventSubmitted(TypedDict):
    type: Literal["submitted"]


class FormInputFirstEntryChanged(TypedDict):
    type: Literal["firstEntryChanged"]
    value: FormEntry


class FormInputSecondEntryChanged(TypedDict):
    type: Literal["secondEntryChanged"]
    value: FormEntry


class FormInputEntriesChanged(TypedDict):
    type: Literal["entriesChanged"]
    firstEntry: FormEntry
    secondEntry: FormEntry


class FormInputSubmitTapped(TypedDict):
    type: Literal["submitTapped"]


class FormViewState(TypedDict):
    firstEntry: FormEntry
    secondEntry: FormEntry
    validationMessages: List[str]
    submitAllowed: bool


class FrontendLifecycleParams(TypedDict):
    phase: FrontendLifecyclePhase


class InitializeCapabilities(TypedDict):
    pass


class InitializeLimits(TypedDict):
    frameBytes: int
    nesting: int
    batchLength: int


class InitializeParams(TypedDict, total=False):
    protocolVersion: Union[str, None]
    client: Union[InitializeProgramGiven, None]
    token: Union[InitializeToken, None]


class InitializeProgram(TypedDict):
    name: str
    version: Union[str, None]


class _InitializeProgramGiven(TypedDict):
    name: str


class InitializeProgramGiven(_InitializeProgramGiven, total=False):
    version: Union[str, None]


class InitializeResult(TypedDict):
    protocolVersion: str
    server: InitializeProgram
    capabilities: InitializeCapabilities
    limits: InitializeLimits


class InvalidParamsData(TypedDict):
    path: str


class JSONPatchOperationAdd(TypedDict):
    op: Literal["add"]
    path: str
    value: Any


class JSONPatchOperationRemove(TypedDict):
    op: Literal["remove"]
    path: str


class JSONPatchOperationReplace(TypedDict):
    op: Literal["replace"]
    path: str
    value: Any


JSONPatchOperationMove = TypedDict("JSONPatchOperationMove", {"op": 'Literal["move"]', "from": 'str', "path": 'str'})


JSONPatchOperationCopy = TypedDict("JSONPatchOperationCopy", {"op": 'Literal["copy"]', "from": 'str', "path": 'str'})


class _LimitData(TypedDict):
    limit: LimitName


class LimitData(_LimitData, total=False):
    path: str


class LoaderConfigurationDemonstration(TypedDict):
    pass


class _LoaderConfigurationMockState(TypedDict):
    state: LoadingViewStateGiven


class LoaderConfigurationMockState(_LoaderConfigurationMockState, total=False):
    after: Union[Seconds, None]


class LoaderConfigurationNodeSource(TypedDict):
    type: Literal["source"]
    name: str


class LoaderConfigurationNodeMock(TypedDict):
    type: Literal["mock"]
    states: List[LoaderConfigurationMockState]


class _LoaderConfigurationNodeDebounce(TypedDict):
    type: Literal["debounce"]
    of: LoaderConfigurationNode


class LoaderConfigurationNodeDebounce(_LoaderConfigurationNodeDebounce, total=False):
    interval: Union[Seconds, None]
    executeFirstImmediately: Union[bool, None]


class _LoaderConfigurationNodeRetry(TypedDict):
    type: Literal["retry"]
    maxAttempts: int
    of: LoaderConfigurationNode


class LoaderConfigurationNodeRetry(_LoaderConfigurationNodeRetry, total=False):
    backoff: Union[LoaderConfigurationRetryBackoff, None]


class LoaderConfigurationNodeTimeout(TypedDict):
    type: Literal["timeout"]
    interval: Seconds
    of: LoaderConfigurationNode


class LoaderConfigurationNodeCache(TypedDict):
    type: Literal["cache"]
    key: str
    ttl: Seconds
    of: LoaderConfigurationNode


class LoaderConfigurationNodeConcurrencyLimit(TypedDict):
    type: Literal["concurrencyLimit"]
    limit: int
    of: LoaderConfigurationNode


class LoaderConfigurationNodeAll(TypedDict):
    type: Literal["all"]
    of: List[LoaderConfigurationNode]


class LoaderConfigurationNodeSequence(TypedDict):
    type: Literal["sequence"]
    of: List[LoaderConfigurationNode]


class LoaderConfigurationRetryBackoff(TypedDict, total=False):
    type: Union[Literal["exponential"], None]
    base: Union[Seconds, None]
    factor: Union[float, None]
    max: Union[Seconds, None]


class LoadingFailure(TypedDict):
    code: str
    message: str


class LoadingInputLoad(TypedDict):
    type: Literal["load"]


class LoadingInputLoadIfNotLoading(TypedDict):
    type: Literal["loadIfNotLoading"]


class LoadingInputAppear(TypedDict):
    type: Literal["appear"]


class LoadingInputCancel(TypedDict):
    type: Literal["cancel"]


class LoadingInputReset(TypedDict):
    type: Literal["reset"]


class LoadingProgress(TypedDict):
    percent: Union[int, None]
    message: Union[str, None]
    isCancelled: bool


class LoadingProgressGiven(TypedDict, total=False):
    percent: Union[float, None]
    message: Union[str, None]
    isCancelled: Union[bool, None]


class LoadingViewStateIdle(TypedDict):
    type: Literal["idle"]


class LoadingViewStateLoading(TypedDict):
    type: Literal["loading"]
    progress: Union[LoadingProgress, None]


class LoadingViewStateLoaded(TypedDict):
    type: Literal["loaded"]
    value: LoadedValue


class LoadingViewStateFailure(TypedDict):
    type: Literal["failure"]
    error: LoadingFailure


class LoadingViewStateGivenIdle(TypedDict):
    type: Literal["idle"]


class _LoadingViewStateGivenLoading(TypedDict):
    type: Literal["loading"]


class LoadingViewStateGivenLoading(_LoadingViewStateGivenLoading, total=False):
    progress: Union[LoadingProgressGiven, None]


class LoadingViewStateGivenLoaded(TypedDict):
    type: Literal["loaded"]
    value: LoadedValue


class LoadingViewStateGivenFailure(TypedDict):
    type: Literal["failure"]
    error: LoadingFailure


class NoConfiguration(TypedDict):
    pass


class NoResult(TypedDict):
    pass


class OutOfOrderData(TypedDict):
    sequence: int


class ProtocolVersionData(TypedDict):
    supported: List[str]


class SessionAttachReplayed(TypedDict):
    replayed: int


class SessionAttachSnapshotTaken(TypedDict):
    snapshot: SessionAttachSnapshot
    reason: SessionAttachSnapshotReason


class SessionAttachClosed(TypedDict):
    closed: StoreClosedReason


class _SessionAttachParams(TypedDict):
    session: str


class SessionAttachParams(_SessionAttachParams, total=False):
    frontend: Union[str, None]
    role: Union[FrontendRole, None]
    revisions: Union[SessionAttachRevisions, None]


class SessionAttachResult(TypedDict):
    stores: Dict[str, SessionAttachAnswer]
    sequence: Union[int, None]


class SessionAttachSnapshot(TypedDict):
    revision: int
    state: Any


class SessionClosedParams(TypedDict):
    session: str
    reason: SessionClosedReason


class SessionInfoFrontend(TypedDict):
    frontend: Union[str, None]
    role: FrontendRole
    phase: FrontendLifecyclePhase
    self: bool


class SessionInfoResult(TypedDict):
    session: Union[str, None]
    frontend: Union[str, None]
    role: FrontendRole
    stores: List[SessionInfoStore]
    frontends: List[SessionInfoFrontend]
    outlives: Seconds


class SessionInfoStore(TypedDict):
    store: str
    kind: str
    revision: int
    closed: bool


class SessionOpenParams(TypedDict, total=False):
    frontend: Union[str, None]


class SessionOpenResult(TypedDict):
    session: str


class SessionPresenceParams(TypedDict):
    frontend: Union[str, None]
    change: SessionPresenceChange
    role: FrontendRole
    attached: int


class SessionTraceParams(TypedDict):
    on: bool


class SessionTracedParams(TypedDict):
    seq: int
    store: str
    stage: SessionTracedStage
    operation: str
    number: int
    hook: SessionTracedHook
    input: Union[str, None]
    action: Union[str, None]
    failed: bool
    revision: int


class StoreChangedPatch(TypedDict):
    store: str
    base: int
    revision: int
    patch: JSONPatch
    applied: Union[str, float, None]


class StoreChangedState(TypedDict):
    store: str
    base: int
    revision: int
    state: Any
    applied: Union[str, float, None]


class StoreCloseParams(TypedDict):
    store: str


class StoreClosedParams(TypedDict):
    store: str
    reason: StoreClosedReason


class StoreEventParams(TypedDict):
    store: str
    event: Any


class _StoreOpenParams(TypedDict):
    store: str
    kind: str


class StoreOpenParams(_StoreOpenParams, total=False):
    config: Any


class StoreOpenResult(TypedDict):
    revision: int


class _StoreSendParams(TypedDict):
    store: str
    input: Any


class StoreSendParams(_StoreSendParams, total=False):
    settle: Union[bool, None]
    sequence: Union[int, None]


class StoreSendResult(TypedDict):
    revision: int
    changed: bool


class StoreStateParams(TypedDict):
    store: str


class StoreStateResult(TypedDict):
    revision: int
    state: Any
    digest: int


class _StoreSubscribeParams(TypedDict):
    store: str


class StoreSubscribeParams(_StoreSubscribeParams, total=False):
    format: Union[FrameFormat, None]


class StoreSubscribeResult(TypedDict):
    revision: int
    state: Any


class StoreUnsubscribeParams(TypedDict):
    store: str


class TestAdvanceClockParams(TypedDict):
    by: Seconds


class TestInjectFaultFaultFail(TypedDict):
    type: Literal["fail"]


class TestInjectFaultFaultDelay(TypedDict):
    type: Literal["delay"]
    seconds: Seconds


class TestInjectFaultFaultHang(TypedDict):
    type: Literal["hang"]


class TestInjectFaultFaultDropConnection(TypedDict):
    type: Literal["dropConnection"]


class _TestInjectFaultParams(TypedDict):
    store: str
    operation: str
    fault: TestInjectFaultFault


class TestInjectFaultParams(_TestInjectFaultParams, total=False):
    times: Union[int, None]


class Todo(TypedDict):
    id: str
    title: str
    completed: bool


class TodoConfigurationList(TypedDict, total=False):
    list: Union[str, None]
    memory: None


class _TodoConfigurationMemory(TypedDict):
    memory: TodoConfigurationMemoryMemory


class TodoConfigurationMemory(_TodoConfigurationMemory, total=False):
    list: None


class TodoInputStateRequested(TypedDict):
    type: Literal["stateRequested"]


class _TodoInputTodoAdded(TypedDict):
    type: Literal["todoAdded"]
    title: TodoTitle


class TodoInputTodoAdded(_TodoInputTodoAdded, total=False):
    id: Union[TodoID, None]


class TodoInputTodoRemoved(TypedDict):
    type: Literal["todoRemoved"]
    id: str


class TodoInputTodoRenamed(TypedDict):
    type: Literal["todoRenamed"]
    id: str
    title: TodoTitle


class TodoInputTodoCompleted(TypedDict):
    type: Literal["todoCompleted"]
    id: str


class TodoInputTodoReopened(TypedDict):
    type: Literal["todoReopened"]
    id: str


class _TodoInputTodoMoved(TypedDict):
    type: Literal["todoMoved"]
    id: str


class TodoInputTodoMoved(_TodoInputTodoMoved, total=False):
    before: Union[str, None]


class TodoViewStateLoading(TypedDict):
    type: Literal["loading"]


class TodoViewStateContent(TypedDict):
    type: Literal["content"]
    todos: List[Todo]


class TodoViewStateError(TypedDict):
    type: Literal["error"]
    code: str
    message: str


class TodoConfigurationMemoryMemory(TypedDict, total=False):
    count: Union[int, None]


AddTodoInput: TypeAlias = Union[AddTodoInputValidate, AddTodoInputAddTodo]
BalanceInput: TypeAlias = Union[
    BalanceInputViewDidAppear,
    BalanceInputRefreshButtonWasTapped,
    BalanceInputWillResignActive,
    BalanceInputDidBecomeActive,
]
BalanceViewStateInfoColor: TypeAlias = Literal["regular", "failure"]
DecimalNumber: TypeAlias = str
FormEntry: TypeAlias = str
FormEvent: TypeAlias = FormEventSubmitted
FormInput: TypeAlias = Union[
    FormInputFirstEntryChanged,
    FormInputSecondEntryChanged,
    FormInputEntriesChanged,
    FormInputSubmitTapped,
]
FrameFormat: TypeAlias = Literal["patch", "state"]
FrontendLifecyclePhase: TypeAlias = Literal["active", "inactive"]
FrontendRole: TypeAlias = Literal["driver", "observer"]
InitializeToken: TypeAlias = str
JSONPatch: TypeAlias = List["JSONPatchOperation"]
JSONPatchOperation: TypeAlias = Union[
    JSONPatchOperationAdd,
    JSONPatchOperationRemove,
    JSONPatchOperationReplace,
    JSONPatchOperationMove,
    JSONPatchOperationCopy,
]
LimitName: TypeAlias = str
LoadedValue: TypeAlias = Any
LoaderConfiguration: TypeAlias = Union[LoaderConfigurationDemonstration, "LoaderConfigurationNode"]
LoaderConfigurationNode: TypeAlias = Union[
    LoaderConfigurationNodeSource,
    LoaderConfigurationNodeMock,
    LoaderConfigurationNodeDebounce,
    LoaderConfigurationNodeRetry,
    LoaderConfigurationNodeTimeout,
    LoaderConfigurationNodeCache,
    LoaderConfigurationNodeConcurrencyLimit,
    LoaderConfigurationNodeAll,
    LoaderConfigurationNodeSequence,
]
LoadingInput: TypeAlias = Union[
    LoadingInputLoad,
    LoadingInputLoadIfNotLoading,
    LoadingInputAppear,
    LoadingInputCancel,
    LoadingInputReset,
]
LoadingViewState: TypeAlias = Union[
    LoadingViewStateIdle,
    LoadingViewStateLoading,
    LoadingViewStateLoaded,
    LoadingViewStateFailure,
]
LoadingViewStateGiven: TypeAlias = Union[
    LoadingViewStateGivenIdle,
    LoadingViewStateGivenLoading,
    LoadingViewStateGivenLoaded,
    LoadingViewStateGivenFailure,
]
NullResult: TypeAlias = None
Seconds: TypeAlias = float
SessionAttachAnswer: TypeAlias = Union[
    SessionAttachReplayed,
    SessionAttachSnapshotTaken,
    SessionAttachClosed,
]
SessionAttachRevisions: TypeAlias = Dict[str, Union[int, None]]
SessionAttachSnapshotReason: TypeAlias = Literal["none", "trimmed", "ahead", "reopened", "redacted"]
SessionClosedReason: TypeAlias = Literal["closed", "evicted"]
SessionPresenceChange: TypeAlias = Literal["attached", "detached", "role"]
SessionTracedHook: TypeAlias = Literal[
    "receiveSubscription",
    "receiveRequest",
    "receiveOutput",
    "receiveCompletion",
    "receiveCancel",
]
SessionTracedStage: TypeAlias = Literal["input", "action", "state", "operation", "part"]
StoreChangedParams: TypeAlias = Union[StoreChangedPatch, StoreChangedState]
StoreClosedReason: TypeAlias = Literal["closed"]
TestInjectFaultFault: TypeAlias = Union[
    TestInjectFaultFaultFail,
    TestInjectFaultFaultDelay,
    TestInjectFaultFaultHang,
    TestInjectFaultFaultDropConnection,
]
Timestamp: TypeAlias = str
TodoConfiguration: TypeAlias = Union[TodoConfigurationList, TodoConfigurationMemory]
TodoID: TypeAlias = str
TodoInput: TypeAlias = Union[
    TodoInputStateRequested,
    TodoInputTodoAdded,
    TodoInputTodoRemoved,
    TodoInputTodoRenamed,
    TodoInputTodoCompleted,
    TodoInputTodoReopened,
    TodoInputTodoMoved,
]
TodoTitle: TypeAlias = str
TodoViewState: TypeAlias = Union[TodoViewStateLoading, TodoViewStateContent, TodoViewStateError]

#: The names of the errors.
ERRORS: Dict[int, str] = {
    -32700: "ParseError",
    -32600: "InvalidRequest",
    -32601: "MethodNotFound",
    -32602: "InvalidParams",
    -32603: "InternalError",
    -32800: "RequestCancelled",
    -32010: "UnknownStore",
    -32011: "StoreClosed",
    -32012: "UnknownSession",
    -32013: "ExpiredSession",
    -32014: "Observer",
    -32015: "Limit",
    -32016: "Unauthorised",
    -32017: "ProtocolVersion",
    -32018: "OtherConfiguration",
    -32019: "OutOfOrder",
}

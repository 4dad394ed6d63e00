// SPDX-License-Identifier: Apache-2.0
// The types of the protocol, made by Scripts/generate-clients from the schemas.

/** A value of JSON. */
export type Json = null | boolean | number | string | Json[] | { [member: string]: Json };

export interface AddTodoInputValidate {
  type: "validate";
  title: string;
}

export interface AddTodoInputAddTodo {
  type: "addTodo";
  title: TodoTitle;
}

export interface AddTodoViewState {
  valid: boolean;
  loading: boolean;
  dismiss: boolean;
}

export interface BalanceInputViewDidAppear {
  type: "viewDidAppear";
}

export interface BalanceInputRefreshButtonWasTapped {
  type: "refreshButtonWasTapped";
}

export interface BalanceInputWillResignActive {
  type: "willResignActive";
}

export interface BalanceInputDidBecomeActive {
  type: "didBecomeActive";
}

export interface BalanceResponse {
  balance: DecimalNumber;
  date: Timestamp;
}

export interface BalanceViewState {
  title: string;
  lastResponse: BalanceResponse | null;
  isRefreshing: boolean;
  didFail: boolean;
  isRedacted: boolean;
  formattedBalance: string;
  infoText: string;
  infoColor: BalanceViewStateInfoColor;
}

export interface CancelRequestParams {
  id: string | number;
}

export interface DiscoverDocument {
  openrpc: string;
  info: { [key: string]: Json };
  methods: ({ [key: string]: Json })[];
}

export interface FormEventSubmitted {
  type: "submitted";
}

export interface FormInputFirstEntryChanged {
  type: "firstEntryChanged";
  value: FormEntry;
}

export interface FormInputSecondEntryChanged {
  type: "secondEntryChanged";
  value: FormEntry;
}

export interface FormInputEntriesChanged {
  type: "entriesChanged";
  firstEntry: FormEntry;
  secondEntry: FormEntry;
}

export interface FormInputSubmitTapped {
  type: "submitTapped";
}

export interface FormViewState {
  firstEntry: FormEntry;
  secondEntry: FormEntry;
  validationMessages: string[];
  submitAllowed: boolean;
}

export interface FrontendLifecycleParams {
  phase: FrontendLifecyclePhase;
}

export type InitializeCapabilities = { [key: string]: Json };

export interface InitializeLimits {
  frameBytes: number;
  nesting: number;
  batchLength: number;
}

export interface InitializeParams {
  protocolVersion?: string | null;
  client?: InitializeProgramGiven | null;
  token?: InitializeToken | null;
}

export interface InitializeProgram {
  name: string;
  version: string | null;
}

export interface InitializeProgramGiven {
  name: string;
  version?: string | null;
}

export interface InitializeResult {
  protocolVersion: string;
  server: InitializeProgram;
  capabilities: InitializeCapabilities;
  limits: InitializeLimits;
}

export interface InvalidParamsData {
  path: string;
}

export interface JSONPatchOperationAdd {
  op: "add";
  path: string;
  value: Json;
}

export interface JSONPatchOperationRemove {
  op: "remove";
  path: string;
}

export interface JSONPatchOperationReplace {
  op: "replace";
  path: string;
  value: Json;
}

export interface JSONPatchOperationMove {
  op: "move";
  from: string;
  path: string;
}

export interface JSONPatchOperationCopy {
  op: "copy";
  from: string;
  path: string;
}

export interface LimitData {
  limit: LimitName;
  path?: string;
}

export type LoaderConfigurationDemonstration = Record<string, never>;

export interface LoaderConfigurationMockState {
  after?: Seconds | null;
  state: LoadingViewStateGiven;
}

export interface LoaderConfigurationNodeSource {
  type: "source";
  name: string;
}

export interface LoaderConfigurationNodeMock {
  type: "mock";
  states: LoaderConfigurationMockState[];
}

export interface LoaderConfigurationNodeDebounce {
  type: "debounce";
  interval?: Seconds | null;
  executeFirstImmediately?: boolean | null;
  of: LoaderConfigurationNode;
}

export interface LoaderConfigurationNodeRetry {
  type: "retry";
  maxAttempts: number;
  backoff?: LoaderConfigurationRetryBackoff | null;
  of: LoaderConfigurationNode;
}

export interface LoaderConfigurationNodeTimeout {
  type: "timeout";
  interval: Seconds;
  of: LoaderConfigurationNode;
}

export interface LoaderConfigurationNodeCache {
  type: "cache";
  key: string;
  ttl: Seconds;
  of: LoaderConfigurationNode;
}

export interface LoaderConfigurationNodeConcurrencyLimit {
  type: "concurrencyLimit";
  limit: number;
  of: LoaderConfigurationNode;
}

export interface LoaderConfigurationNodeAll {
  type: "all";
  of: LoaderConfigurationNode[];
}

export interface LoaderConfigurationNodeSequence {
  type: "sequence";
  of: LoaderConfigurationNode[];
}

export interface LoaderConfigurationRetryBackoff {
  type?: "exponential" | null;
  base?: Seconds | null;
  factor?: number | null;
  max?: Seconds | null;
}

export interface LoadingFailure {
  code: string;
  message: string;
}

export interface LoadingInputLoad {
  type: "load";
}

export interface LoadingInputLoadIfNotLoading {
  type: "loadIfNotLoading";
}

export interface LoadingInputAppear {
  type: "appear";
}

export interface LoadingInputCancel {
  type: "cancel";
}

export interface LoadingInputReset {
  type: "reset";
}

export interface LoadingProgress {
  percent: number | null;
  message: string | null;
  isCancelled: boolean;
}

export interface LoadingProgressGiven {
  percent?: number | null;
  message?: string | null;
  isCancelled?: boolean | null;
}

export interface LoadingViewStateIdle {
  type: "idle";
}

export interface LoadingViewStateLoading {
  type: "loading";
  progress: LoadingProgress | null;
}

export interface LoadingViewStateLoaded {
  type: "loaded";
  value: LoadedValue;
}

export interface LoadingViewStateFailure {
  type: "failure";
  error: LoadingFailure;
}

export interface LoadingViewStateGivenIdle {
  type: "idle";
}

export interface LoadingViewStateGivenLoading {
  type: "loading";
  progress?: LoadingProgressGiven | null;
}

export interface LoadingViewStateGivenLoaded {
  type: "loaded";
  value: LoadedValue;
}

export interface LoadingViewStateGivenFailure {
  type: "failure";
  error: LoadingFailure;
}

export type NoConfiguration = { [key: string]: Json };

export type NoResult = { [key: string]: Json };

export interface OutOfOrderData {
  sequence: number;
}

export interface ProtocolVersionData {
  supported: string[];
}

export interface SessionAttachReplayed {
  replayed: number;
}

export interface SessionAttachSnapshotTaken {
  snapshot: SessionAttachSnapshot;
  reason: SessionAttachSnapshotReason;
}

export interface SessionAttachClosed {
  closed: StoreClosedReason;
}

export interface SessionAttachParams {
  session: string;
  frontend?: string | null;
  role?: FrontendRole | null;
  revisions?: SessionAttachRevisions | null;
}

export interface SessionAttachResult {
  stores: { [key: string]: SessionAttachAnswer };
  sequence: number | null;
}

export interface SessionAttachSnapshot {
  revision: number;
  state: Json;
}

export interface SessionClosedParams {
  session: string;
  reason: SessionClosedReason;
}

export interface SessionInfoFrontend {
  frontend: string | null;
  role: FrontendRole;
  phase: FrontendLifecyclePhase;
  self: boolean;
}

export interface SessionInfoResult {
  session: string | null;
  frontend: string | null;
  role: FrontendRole;
  stores: SessionInfoStore[];
  frontends: SessionInfoFrontend[];
  outlives: Seconds;
}

export interface SessionInfoStore {
  store: string;
  kind: string;
  revision: number;
  closed: boolean;
}

export interface SessionOpenParams {
  frontend?: string | null;
}

export interface SessionOpenResult {
  session: string;
}

export interface SessionPresenceParams {
  frontend: string | null;
  change: SessionPresenceChange;
  role: FrontendRole;
  attached: number;
}

export interface SessionTraceParams {
  on: boolean;
}

export interface SessionTracedParams {
  seq: number;
  store: string;
  stage: SessionTracedStage;
  operation: string;
  number: number;
  hook: SessionTracedHook;
  input: string | null;
  action: string | null;
  failed: boolean;
  revision: number;
}

export interface StoreChangedPatch {
  store: string;
  base: number;
  revision: number;
  patch: JSONPatch;
  applied: string | number | null;
}

export interface StoreChangedState {
  store: string;
  base: number;
  revision: number;
  state: Json;
  applied: string | number | null;
}

export interface StoreCloseParams {
  store: string;
}

export interface StoreClosedParams {
  store: string;
  reason: StoreClosedReason;
}

export interface StoreEventParams {
  store: string;
  event: Json;
}

export interface StoreOpenParams {
  store: string;
  kind: string;
  config?: Json;
}

export interface StoreOpenResult {
  revision: number;
}

export interface StoreSendParams {
  store: string;
  input: Json;
  settle?: boolean | null;
  sequence?: number | null;
}

export interface StoreSendResult {
  revision: number;
  changed: boolean;
}

export interface StoreStateParams {
  store: string;
}

export interface StoreStateResult {
  revision: number;
  state: Json;
  digest: number;
}

export interface StoreSubscribeParams {
  store: string;
  format?: FrameFormat | null;
}

export interface StoreSubscribeResult {
  revision: number;
  state: Json;
}

export interface StoreUnsubscribeParams {
  store: string;
}

export interface TestAdvanceClockParams {
  by: Seconds;
}

export interface TestInjectFaultFaultFail {
  type: "fail";
}

export interface TestInjectFaultFaultDelay {
  type: "delay";
  seconds: Seconds;
}

export interface TestInjectFaultFaultHang {
  type: "hang";
}

export interface TestInjectFaultFaultDropConnection {
  type: "dropConnection";
}

export interface TestInjectFaultParams {
  store: string;
  operation: string;
  fault: TestInjectFaultFault;
  times?: number | null;
}

export interface Todo {
  id: string;
  title: string;
  completed: boolean;
}

export interface TodoConfigurationList {
  list?: string | null;
  memory?: null;
}

export interface TodoConfigurationMemory {
  list?: null;
  memory: { count?: number | null };
}

export interface TodoInputStateRequested {
  type: "stateRequested";
}

export interface TodoInputTodoAdded {
  type: "todoAdded";
  title: TodoTitle;
  id?: TodoID | null;
}

export interface TodoInputTodoRemoved {
  type: "todoRemoved";
  id: string;
}

export interface TodoInputTodoRenamed {
  type: "todoRenamed";
  id: string;
  title: TodoTitle;
}

export interface TodoInputTodoCompleted {
  type: "todoCompleted";
  id: string;
}

export interface TodoInputTodoReopened {
  type: "todoReopened";
  id: string;
}

export interface TodoInputTodoMoved {
  type: "todoMoved";
  id: string;
  before?: string | null;
}

export interface TodoViewStateLoading {
  type: "loading";
}

export interface TodoViewStateContent {
  type: "content";
  todos: Todo[];
}

export interface TodoViewStateError {
  type: "error";
  code: string;
  message: string;
}

export type AddTodoInput = AddTodoInputValidate | AddTodoInputAddTodo;

export type BalanceInput =
  | BalanceInputViewDidAppear
  | BalanceInputRefreshButtonWasTapped
  | BalanceInputWillResignActive
  | BalanceInputDidBecomeActive;

export type BalanceViewStateInfoColor = "regular" | "failure";

export type DecimalNumber = string;

export type FormEntry = string;

export type FormEvent = FormEventSubmitted;

export type FormInput =
  | FormInputFirstEntryChanged
  | FormInputSecondEntryChanged
  | FormInputEntriesChanged
  | FormInputSubmitTapped;

export type FrameFormat = "patch" | "state";

export type FrontendLifecyclePhase = "active" | "inactive";

export type FrontendRole = "driver" | "observer";

export type InitializeToken = string;

export type JSONPatch = JSONPatchOperation[];

export type JSONPatchOperation =
  | JSONPatchOperationAdd
  | JSONPatchOperationRemove
  | JSONPatchOperationReplace
  | JSONPatchOperationMove
  | JSONPatchOperationCopy;

export type LimitName = string;

export type LoadedValue = Json;

export type LoaderConfiguration = LoaderConfigurationDemonstration | LoaderConfigurationNode;

export type LoaderConfigurationNode =
  | LoaderConfigurationNodeSource
  | LoaderConfigurationNodeMock
  | LoaderConfigurationNodeDebounce
  | LoaderConfigurationNodeRetry
  | LoaderConfigurationNodeTimeout
  | LoaderConfigurationNodeCache
  | LoaderConfigurationNodeConcurrencyLimit
  | LoaderConfigurationNodeAll
  | LoaderConfigurationNodeSequence;

export type LoadingInput =
  | LoadingInputLoad
  | LoadingInputLoadIfNotLoading
  | LoadingInputAppear
  | LoadingInputCancel
  | LoadingInputReset;

export type LoadingViewState =
  | LoadingViewStateIdle
  | LoadingViewStateLoading
  | LoadingViewStateLoaded
  | LoadingViewStateFailure;

export type LoadingViewStateGiven =
  | LoadingViewStateGivenIdle
  | LoadingViewStateGivenLoading
  | LoadingViewStateGivenLoaded
  | LoadingViewStateGivenFailure;

export type NullResult = null;

export type Seconds = number;

export type SessionAttachAnswer =
  | SessionAttachReplayed
  | SessionAttachSnapshotTaken
  | SessionAttachClosed;

export type SessionAttachRevisions = { [key: string]: number | null };

export type SessionAttachSnapshotReason = "none" | "trimmed" | "ahead" | "reopened" | "redacted";

export type SessionClosedReason = "closed" | "evicted";

export type SessionPresenceChange = "attached" | "detached" | "role";

export type SessionTracedHook =
  | "receiveSubscription"
  | "receiveRequest"
  | "receiveOutput"
  | "receiveCompletion"
  | "receiveCancel";

export type SessionTracedStage = "input" | "action" | "state" | "operation" | "part";

export type StoreChangedParams = StoreChangedPatch | StoreChangedState;

export type StoreClosedReason = "closed";

export type TestInjectFaultFault =
  | TestInjectFaultFaultFail
  | TestInjectFaultFaultDelay
  | TestInjectFaultFaultHang
  | TestInjectFaultFaultDropConnection;

export type Timestamp = string;

export type TodoConfiguration = TodoConfigurationList | TodoConfigurationMemory;

export type TodoID = string;

export type TodoInput =
  | TodoInputStateRequested
  | TodoInputTodoAdded
  | TodoInputTodoRemoved
  | TodoInputTodoRenamed
  | TodoInputTodoCompleted
  | TodoInputTodoReopened
  | TodoInputTodoMoved;

export type TodoTitle = string;

export type TodoViewState = TodoViewStateLoading | TodoViewStateContent | TodoViewStateError;

/** What goes in and comes out of each kind of store. */
export interface Stores {
  todo: { config: TodoConfiguration; input: TodoInput; viewState: TodoViewState; event: never };
  addTodo: { config: TodoConfiguration; input: AddTodoInput; viewState: AddTodoViewState; event: never };
  form: { config: NoConfiguration; input: FormInput; viewState: FormViewState; event: FormEvent };
  balance: { config: NoConfiguration; input: BalanceInput; viewState: BalanceViewState; event: never };
  loading: { config: LoaderConfiguration; input: LoadingInput; viewState: LoadingViewState; event: never };
}

/** The params and the result of each method. */
export interface Methods {
  initialize: { params: InitializeParams; result: InitializeResult };
  ping: { params: { [key: string]: Json }; result: NoResult };
  "rpc.discover": { params: { [key: string]: Json }; result: DiscoverDocument };
  shutdown: { params: { [key: string]: Json }; result: NullResult };
  exit: { params: { [key: string]: Json }; result: NullResult };
  "store/open": { params: StoreOpenParams; result: StoreOpenResult };
  "store/close": { params: StoreCloseParams; result: NoResult };
  "store/subscribe": { params: StoreSubscribeParams; result: StoreSubscribeResult };
  "store/unsubscribe": { params: StoreUnsubscribeParams; result: NoResult };
  "store/send": { params: StoreSendParams; result: StoreSendResult };
  "store/state": { params: StoreStateParams; result: StoreStateResult };
  "session/open": { params: SessionOpenParams; result: SessionOpenResult };
  "session/attach": { params: SessionAttachParams; result: SessionAttachResult };
  "session/detach": { params: { [key: string]: Json }; result: NoResult };
  "session/close": { params: { [key: string]: Json }; result: NoResult };
  "session/info": { params: { [key: string]: Json }; result: SessionInfoResult };
  "session/trace": { params: SessionTraceParams; result: NoResult };
  "frontend/lifecycle": { params: FrontendLifecycleParams; result: NoResult };
  "$/cancelRequest": { params: CancelRequestParams; result: NoResult };
  "test/advanceClock": { params: TestAdvanceClockParams; result: NoResult };
  "test/injectFault": { params: TestInjectFaultParams; result: NoResult };
}

/** The params of each notification. */
export interface Notifications {
  "store/changed": StoreChangedParams;
  "store/event": StoreEventParams;
  "store/closed": StoreClosedParams;
  "session/closed": SessionClosedParams;
  "session/presence": SessionPresenceParams;
  "session/traced": SessionTracedParams;
}

/** The number of each error, and its data. */
export interface Errors {
  ParseError: { code: -32700; data: undefined };
  InvalidRequest: { code: -32600; data: undefined };
  MethodNotFound: { code: -32601; data: undefined };
  InvalidParams: { code: -32602; data: InvalidParamsData };
  InternalError: { code: -32603; data: undefined };
  RequestCancelled: { code: -32800; data: undefined };
  UnknownStore: { code: -32010; data: undefined };
  StoreClosed: { code: -32011; data: undefined };
  UnknownSession: { code: -32012; data: undefined };
  ExpiredSession: { code: -32013; data: undefined };
  Observer: { code: -32014; data: undefined };
  Limit: { code: -32015; data: LimitData };
  Unauthorised: { code: -32016; data: undefined };
  ProtocolVersion: { code: -32017; data: ProtocolVersionData };
  OtherConfiguration: { code: -32018; data: undefined };
  OutOfOrder: { code: -32019; data: OutOfOrderData };
}

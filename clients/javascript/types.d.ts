// SPDX-License-Identifier: Apache-2.0

/** A value of JSON. */
export type Json = null | boolean | number | string | Json[] | { [member: string]: Json };

// Values inside messages.

export type LifecyclePhase = "active" | "inactive";
export type FrontendRole = "driver" | "observer";
export type SnapshotReason = "none" | "trimmed" | "ahead" | "reopened" | "redacted";

/** The answer to an input. */
export interface StoreSendResult {
  revision: number;
  changed: boolean;
}

export interface SessionPresence {
  frontend: string | null;
  change: "attached" | "detached" | "role";
  role: FrontendRole;
  attached: number;
}

export interface SessionTraced {
  seq: number;
  store: string;
  stage: "input" | "operation" | "part" | "action" | "state";
  operation: string;
  number: number;
  hook:
    | "receiveSubscription"
    | "receiveRequest"
    | "receiveOutput"
    | "receiveCompletion"
    | "receiveCancel";
  input: string | null;
  action: string | null;
  failed: boolean;
  revision: number;
}

// The store `todo`.

export interface Todo {
  id: string;
  title: string;
  completed: boolean;
}

export type TodoConfiguration = { list: string } | { memory: { count: number } };

export type TodoInput =
  | { type: "stateRequested" }
  | { type: "todoAdded"; title: string }
  | { type: "todoRemoved"; id: string }
  | { type: "todoRenamed"; id: string; title: string }
  | { type: "todoCompleted"; id: string }
  | { type: "todoReopened"; id: string }
  | { type: "todoMoved"; id: string; before?: string | null };

export type TodoViewState =
  | { type: "loading" }
  | { type: "content"; todos: Todo[] }
  | { type: "error"; code: string; message: string };

// The store `addTodo`.

export type AddTodoInput = { type: "validate"; title: string } | { type: "addTodo"; title: string };

export interface AddTodoViewState {
  valid: boolean;
  loading: boolean;
  dismiss: boolean;
}

// The store `form`.

export type FormInput =
  | { type: "firstEntryChanged"; value: string }
  | { type: "secondEntryChanged"; value: string }
  | { type: "entriesChanged"; firstEntry: string; secondEntry: string }
  | { type: "submitTapped" };

export interface FormViewState {
  firstEntry: string;
  secondEntry: string;
  validationMessages: string[];
  submitAllowed: boolean;
}

export type FormEvent = { type: "submitted" };

// The store `balance`.

export type BalanceInput =
  | { type: "viewDidAppear" }
  | { type: "refreshButtonWasTapped" }
  | { type: "willResignActive" }
  | { type: "didBecomeActive" };

export interface BalanceResponse {
  balance: string;
  date: string;
}

export interface BalanceViewState {
  title: string;
  lastResponse: BalanceResponse | null;
  isRefreshing: boolean;
  didFail: boolean;
  isRedacted: boolean;
  formattedBalance: string;
  infoText: string;
  infoColor: "regular" | "failure";
}

// The store `loading`.

export type LoadingInput =
  | { type: "load" }
  | { type: "loadIfNotLoading" }
  | { type: "appear" }
  | { type: "cancel" }
  | { type: "reset" };

export interface LoadingProgress {
  percent: number | null;
  message: string | null;
  isCancelled: boolean;
}

export interface LoadingFailure {
  code: string;
  message: string;
}

export type LoadingViewState =
  | { type: "idle" }
  | { type: "loading"; progress: LoadingProgress | null }
  | { type: "loaded"; value: Json }
  | { type: "failure"; error: LoadingFailure };

export type LoaderConfiguration =
  | {}
  | { type: "source"; name: string }
  | { type: "mock"; states: { after?: number; state: LoadingViewState }[] }
  | {
      type: "debounce";
      interval?: number;
      executeFirstImmediately?: boolean;
      of: LoaderConfiguration;
    }
  | {
      type: "retry";
      maxAttempts: number;
      backoff?: { type: "exponential"; base?: number; factor?: number; max?: number };
      of: LoaderConfiguration;
    }
  | { type: "timeout"; interval: number; of: LoaderConfiguration }
  | { type: "cache"; key: string; ttl: number; of: LoaderConfiguration }
  | { type: "concurrencyLimit"; limit: number; of: LoaderConfiguration }
  | { type: "all"; of: LoaderConfiguration[] }
  | { type: "sequence"; of: LoaderConfiguration[] };

// SPDX-License-Identifier: Apache-2.0

import type {
  AddTodoInput,
  AddTodoViewState,
  BalanceInput,
  BalanceViewState,
  FormEvent,
  FormInput,
  FormViewState,
  FrontendRole,
  Json,
  FrontendLifecyclePhase,
  LoaderConfiguration,
  LoadingInput,
  LoadingViewState,
  SessionPresenceParams,
  SessionTracedParams,
  SessionAttachSnapshotReason,
  StoreSendResult,
  TodoConfiguration,
  TodoInput,
  TodoViewState,
} from "./types.js";

export * from "./types.js";

/** Callbacks of a transport: one call for each whole message, and one at the end. */
export interface TransportListener {
  message(text: string): void;
  closed(error?: Error): void;
  /** Aborted when the client no longer needs the connection that is being made. */
  signal?: AbortSignal;
}

/** A connection that carries whole messages; one text is one message. */
export interface Transport {
  send(text: string): void;
  close(): void;
}

/** Connects; called once for each connection. */
export type Dial = (listener: TransportListener) => Promise<Transport>;

export interface ClientOptions {
  /** The handle of a session to attach to. A new session is opened if it has ended. */
  session?: string;
  /**
   * The name of this frontend in its session; random by default. With null the frontend has no name:
   * pending inputs then fail when the connection is lost, and are not sent again.
   */
  frontend?: string | null;
  /** A driver sends inputs. An observer only subscribes. */
  role?: FrontendRole;
  /** The token for a server that requires one. */
  token?: string;
  /** The name of this program in the server's logs. */
  name?: string;
  /** The number of updates after which the state of a store is verified; 1000 by default. */
  verifyAfterUpdates?: number;
  /**
   * Milliseconds without a message after which the client sends `ping`; half of them while a response is
   * pending. The client drops the connection if no message arrives in the following three quarters of the
   * interval. 20,000 by default; 0 disables pings.
   */
  pingInterval?: number;
  /** Milliseconds for connecting and for each request except inputs; 30,000 by default, 0 for no limit. */
  timeout?: number;
  /**
   * Delays before connecting again, in milliseconds. Delay n, counted from 0, is at most `base * 2 ** n` and
   * `maximum`, and at least half of that. Delay 0 is between 0 and half of `base`. 200 and 10,000 by default.
   */
  backoff?: { base?: number; maximum?: number; random?: () => number };
  /** The number of inputs that may be without a response; 10,000 by default. */
  maximumPending?: number;
}

/**
 * The state of the connection. `connecting`: the first connection is being made. `connected`: the client is
 * attached to its session. `reconnecting`: the connection was lost or refused; the next attempt starts at
 * `retryAt` (a time of `Date.now()`). `closed`: final.
 */
export type Status =
  | { state: "connecting" }
  | { state: "connected" }
  | { state: "reconnecting"; error: Error; retryAt: number }
  | { state: "closed"; error: Error };

export interface ClientEvents {
  status: Status;
  /** A session was opened; `lost` is the error of the previous one, if there was one. */
  session: { session: string; lost?: RPCError };
  closed: Error;
  presence: SessionPresenceParams;
  traced: SessionTracedParams;
  /** The replica of a store differs from the server's state. The client requests the whole state. */
  divergence: { store: string; reason: Divergence };
  /** The whole state of a store has replaced its replica; `before` is the previous `store.state`. */
  resynced: {
    store: string;
    reason: Divergence | SessionAttachSnapshotReason;
    before: unknown;
  };
}

/**
 * How a replica differs from the server's state. gap: an update is missing. patch: a patch does not apply.
 * digest: the digests differ.
 */
export type Divergence = "gap" | "patch" | "digest";

/** The types of a store. */
export interface StoreTypes {
  input: { type: string };
  state: unknown;
  event: unknown;
  config: unknown;
}

/** The built-in store kinds. `statewire types` adds custom ones by declaration merging. */
export interface StoreKinds {
  todo: { input: TodoInput; state: TodoViewState; event: never; config: TodoConfiguration };
  addTodo: {
    input: AddTodoInput;
    state: AddTodoViewState;
    event: never;
    config: TodoConfiguration;
  };
  form: { input: FormInput; state: FormViewState; event: FormEvent; config: {} };
  balance: { input: BalanceInput; state: BalanceViewState; event: never; config: {} };
  loading: {
    input: LoadingInput;
    state: LoadingViewState;
    event: never;
    config: LoaderConfiguration;
  };
}

export interface SendOptions<State> {
  /** True to wait until all effects of the input have ended; true by default with `optimistic`. */
  settle?: boolean;
  /** Computes the state that the input will probably lead to; applied until the result arrives. */
  optimistic?: (state: State) => State;
  /** Aborting cancels the input and its effects on the server. */
  signal?: AbortSignal;
  /** Milliseconds to wait for the result; no limit by default. */
  timeout?: number;
  /** The caller's span, in the form of W3C Trace Context. The server adds its spans to it. */
  traceparent?: string;
}

export class Store<Types extends StoreTypes = StoreTypes> {
  readonly name: string;
  readonly kind?: string;
  readonly config?: Types["config"];
  /** The state to draw; undefined without a subscriber and before the first state. */
  readonly state: Types["state"] | undefined;
  /** The server's state, without optimistic updates. */
  readonly confirmed: Types["state"] | undefined;
  readonly revision: number | null;
  /** True while an optimistic update is applied to `state`. */
  readonly isOptimistic: boolean;
  private constructor();
  /**
   * Iterates over the states, beginning with the current one. A slow consumer skips intermediate states. No
   * state equals the previous one. Ends when the store is closed.
   */
  states(options?: { signal?: AbortSignal }): AsyncGenerator<Types["state"], void, undefined>;
  [Symbol.asyncIterator](): AsyncGenerator<Types["state"], void, undefined>;
  /**
   * Calls `changed` with the current state and after each change, and `ended` when the subscription ends. No
   * state equals the previous one. Returns a function that unsubscribes.
   */
  subscribe(changed: (state: Types["state"]) => void, ended?: (error?: Error) => void): () => void;
  /** Subscribes to the store and calls back with each event. Returns a function that unsubscribes. */
  onEvent(listener: (event: Types["event"]) => void): () => void;
  /**
   * Sends an input as soon as the client is connected. The server applies it exactly once. Resolves with the
   * send result, after the state that the input has led to. The input is copied immediately. Rejects with a
   * `LimitError` if its frame exceeds a limit of the server (`frameBytes`, `nesting`), and with the error of
   * `JSON.stringify` if it is not JSON.
   */
  send(input: Types["input"], options?: SendOptions<Types["state"]>): Promise<StoreSendResult>;
  /**
   * Compares the digest of the replica with the server's, and takes the server's state if they differ.
   * Resolves with true if they were equal.
   */
  verify(): Promise<boolean>;
  /** Closes the store at the server, for all participants of the session. */
  close(): Promise<void>;
}

/** A client of one session. It connects immediately, reconnects by itself and resumes the session. */
export class Client {
  constructor(dial: Dial, options?: ClientOptions);
  /** The handle of the session, with which other clients can attach. Null before the first connection. */
  readonly session: string | null;
  readonly frontend: string | null;
  readonly status: Status;
  /** The number of inputs without a response. */
  readonly pending: number;
  /** Adds a listener. Returns a function that removes it. */
  on<Type extends keyof ClientEvents>(
    type: Type,
    listener: (event: ClientEvents[Type]) => void,
  ): () => void;
  /**
   * Returns the store with a name. With `kind` (and `config`) the client opens it before use. While a store with
   * this name has subscribers, one of another kind or configuration fails with an `OtherConfigurationError`.
   */
  store<Kind extends keyof StoreKinds>(name: Kind): Store<StoreKinds[Kind]>;
  store<Kind extends keyof StoreKinds>(
    name: string,
    options: { kind: Kind; config?: StoreKinds[Kind]["config"] },
  ): Store<StoreKinds[Kind]>;
  store<Types extends StoreTypes = StoreTypes>(
    name: string,
    options?: { kind: string; config?: Types["config"] },
  ): Store<Types>;
  /** Resolves when the client is connected; rejects if it is closed. */
  connected(): Promise<void>;
  /** Sends a request as soon as the client is connected. It is not sent again if the connection is lost. */
  request(
    method: string,
    params?: { [member: string]: unknown },
    options?: { signal?: AbortSignal; timeout?: number },
  ): Promise<any>;
  /** Reports whether the frontend is active (visible to a person), also on later connections. */
  setPhase(phase: FrontendLifecyclePhase): void;
  /** Connects immediately if the client is waiting to reconnect, for example when the network is back. */
  reconnect(): void;
  /** Closes the client. The session continues on the server until it expires. */
  close(): void;
  /** Closes the session with its stores, for all clients, and then this client. */
  endSession(): Promise<void>;
}

/** Makes a client of the server at a WebSocket URL. `WebSocket` replaces the class of the platform. */
export function connect(
  url: string,
  options?: ClientOptions & { WebSocket?: unknown },
): Client;
export function webSocket(url: string, options?: { WebSocket?: unknown }): Dial;

export type PatchOperation =
  | { op: "add" | "replace" | "test"; path: string; value: Json }
  | { op: "remove"; path: string }
  | { op: "move" | "copy"; from: string; path: string };

/** Returns the state after the operations. The given state is unchanged; unchanged parts are shared. */
export function applyPatch<State>(state: State, operations: readonly PatchOperation[]): State;
/** Encodes a JSON value in the canonical form of RFC 8785. */
export function canonical(value: unknown): string;
/** Computes the CRC-32 of bytes. */
export function crc32(bytes: Uint8Array): number;
/** Computes the CRC-32 of the canonical form in UTF-8, as the server does. */
export function digest(state: unknown): number;

/**
 * Makes text safe to print to a terminal or a log: replaces control characters and bidirectional controls with
 * visible characters, one for one.
 */
export function printable(text: unknown): string;

/** The base class of all errors of this client. Each `message` is safe to print to a terminal. */
export class StatewireError extends Error {}
/** The patch does not apply to the state. */
export class PatchError extends StatewireError {}
/** The connection ended before the response. It is unknown whether the request was carried out. */
export class ConnectionLostError extends StatewireError {}
/** No response arrived in time. */
export class TimedOutError extends StatewireError {}
/**
 * The session has ended for this client. clientClosed: the client was closed. evicted: another connection has
 * attached with this frontend's name.
 */
export class SessionEndedError extends StatewireError {
  constructor(reason: "clientClosed" | "evicted");
  readonly reason: "clientClosed" | "evicted";
}
/** The maximum number of inputs is pending. */
export class TooManyPendingError extends StatewireError {}

/** An error response of the server. A code without a class of its own has this class. */
export class RPCError extends StatewireError {
  constructor(code: number, message: string, data?: unknown, options?: ErrorOptions);
  readonly code: number;
  readonly data: any;
}
export class ParseError extends RPCError {}
export class InvalidRequestError extends RPCError {}
export class MethodNotFoundError extends RPCError {}
export class InvalidParamsError extends RPCError {
  /** The place of the error, if the server names it: a JSON Pointer into the params. */
  readonly path: string | undefined;
}
export class InternalError extends RPCError {}
export class RequestCancelledError extends RPCError {}
export class UnknownStoreError extends RPCError {}
export class StoreClosedError extends RPCError {}
export class UnknownSessionError extends RPCError {}
export class ExpiredSessionError extends RPCError {}
export class ObserverError extends RPCError {}
export class LimitError extends RPCError {
  readonly limit: string | undefined;
  readonly path: string | undefined;
}
export class UnauthorisedError extends RPCError {}
export class ProtocolVersionError extends RPCError {
  readonly supported: string[] | undefined;
}
export class OtherConfigurationError extends RPCError {}
export class OutOfOrderError extends RPCError {
  readonly sequence: number | undefined;
}
/** The store kind refuses this use of the store to this client. */
export class ForbiddenError extends RPCError {
  /** The reason, as a word for programs. */
  readonly reason: string | undefined;
}
export function rpcError(error: { code: number; message: string; data?: unknown }): RPCError;

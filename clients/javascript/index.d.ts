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

/** One way of a channel: the client is told of whole messages, and once of the end. */
export interface ChannelListener {
  message(text: string): void;
  closed(error?: Error): void;
  /** Aborted when the channel is not wanted any more before it is there. */
  signal?: AbortSignal;
}

/** The other way: one text is one message. */
export interface Channel {
  send(text: string): void;
  close(): void;
}

/** Makes a channel; called once for each connection. */
export type Dial = (listener: ChannelListener) => Promise<Channel>;

export interface ClientOptions {
  /** The handle of a session to go on with; another one is opened if it is over. */
  session?: string;
  /**
   * The name of this frontend in its session, by chance if not given. With null it has none: then
   * inputs that were not answered when the connection is lost are not sent again.
   */
  frontend?: string | null;
  role?: FrontendRole;
  token?: string;
  /** What the program is called, for the server's logs. */
  name?: string;
  /** After so many frames of a store its digest is compared with the server's; 1000 if not given. */
  checkEvery?: number;
  /**
   * After so many milliseconds of silence the server is asked with `ping`, after half of them while a
   * response is awaited; three quarters of them later the connection is given up. 20,000 if not given, 0 for
   * never.
   */
  heartbeat?: number;
  /** Milliseconds that a connection and each request other than an input may take; 0 for any time. */
  timeout?: number;
  /** How long to wait before connecting again, in milliseconds: `base` first, `max` at most. */
  backoff?: { base?: number; max?: number; random?: () => number };
  /** How many inputs may wait for their answer; 10,000 if not given. */
  maximumPending?: number;
}

export type Status =
  | { state: "connecting" }
  | { state: "connected" }
  | { state: "waiting"; error: Error; retryAt: number }
  | { state: "closed"; error: Error };

export interface ClientEvents {
  status: Status;
  /** There is another session; `lost` says why, if there was one before. */
  session: { session: string; lost?: RpcError };
  closed: Error;
  presence: SessionPresenceParams;
  traced: SessionTracedParams;
  /** What came of a store is not right: it is asked for anew. */
  problem: { store: string; reason: "gap" | "patch" | "digest" };
  /** A store's state came as a whole, not by frames; `before` is what was drawn until then. */
  resynchronised: {
    store: string;
    reason: "gap" | "patch" | "digest" | SessionAttachSnapshotReason;
    before: unknown;
  };
}

/** What a store takes and shows. */
export interface StoreTypes {
  input: { type: string };
  state: unknown;
  event: unknown;
  config: unknown;
}

/** The stores that are built in. Add those of your own by declaration merging. */
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
  /** Answer once all effects of the input have ended. */
  settle?: boolean;
  /** The state that the input will lead to; drawn until the answer is there. */
  draw?: (state: State) => State;
  /** Aborting cancels the input's effects. */
  signal?: AbortSignal;
  /** Milliseconds; none if not given, since an input waits for a connection. */
  timeout?: number;
}

export class Store<Types extends StoreTypes = StoreTypes> {
  readonly name: string;
  readonly kind?: string;
  readonly config?: Types["config"];
  /** What to draw; undefined as long as nobody watches or nothing has come. */
  readonly state: Types["state"] | undefined;
  /** The server's state, without what is drawn early. */
  readonly confirmed: Types["state"] | undefined;
  readonly revision: number | null;
  private constructor();
  /**
   * The states as they come, the present one first. A consumer that is slow gets the newest one when
   * it asks for the next. Ends when the store is closed.
   */
  states(options?: { signal?: AbortSignal }): AsyncGenerator<Types["state"], void, undefined>;
  [Symbol.asyncIterator](): AsyncGenerator<Types["state"], void, undefined>;
  /** Calls back with each state, at once with the present one; `ended` when no more will come. */
  watch(changed: (state: Types["state"]) => void, ended?: (error?: Error) => void): () => void;
  /** Watches the store, and calls back with each of its events. */
  onEvent(listener: (event: Types["event"]) => void): () => void;
  /**
   * Sends an input, when there is a connection, and once. Resolves with the answer, which comes after the
   * state that the input has led to. The input is copied now. Rejects with a `LimitError` if its frame is
   * longer than the server takes (`frameBytes`) or nests deeper (`nesting`), and with what `JSON.stringify`
   * throws.
   */
  send(input: Types["input"], options?: SendOptions<Types["state"]>): Promise<StoreSendResult>;
  /**
   * Compares the digest of the state with the server's, and takes the server's state if ours is another
   * one. Resolves with whether it was the same.
   */
  verify(): Promise<boolean>;
  /** Ends the store at the server, for all frontends of the session. */
  close(): Promise<void>;
}

/** A frontend of one session: it connects at once, and again when it has to, and goes on where it was. */
export class Client {
  constructor(dial: Dial, options?: ClientOptions);
  /** The handle of the session: whoever has it can go on with it. Null until there is one. */
  readonly session: string | null;
  readonly frontend: string | null;
  readonly status: Status;
  /** How many inputs have not been answered. */
  readonly pending: number;
  on<Type extends keyof ClientEvents>(
    type: Type,
    listener: (event: ClientEvents[Type]) => void,
  ): () => void;
  /** The store of a name. With `kind` (and `config`) it is opened before it is used. */
  store<Kind extends keyof StoreKinds>(name: Kind): Store<StoreKinds[Kind]>;
  store<Kind extends keyof StoreKinds>(
    name: string,
    options: { kind: Kind; config?: StoreKinds[Kind]["config"] },
  ): Store<StoreKinds[Kind]>;
  store<Types extends StoreTypes = StoreTypes>(
    name: string,
    options?: { kind: string; config?: Types["config"] },
  ): Store<Types>;
  /** Resolves once there is a connection; rejects if there will be none. */
  connected(): Promise<void>;
  /** Any request; waits for a connection, and is not sent again if that is lost. */
  request(
    method: string,
    params?: { [member: string]: unknown },
    options?: { signal?: AbortSignal; timeout?: number },
  ): Promise<any>;
  /** Says whether somebody looks at this frontend. */
  lifecycle(phase: FrontendLifecyclePhase): void;
  /** Tries again at once, where it waits to do so: the network is back, say. */
  reconnect(): void;
  /** Ends the connection, not the session. */
  close(): void;
  /** Ends the session with its stores, for all who are attached, and the client. */
  end(): Promise<void>;
}

/** A client of the server at a WebSocket's address; `WebSocket` is the platform's unless one is given. */
export function connect(
  url: string,
  options?: ClientOptions & { WebSocket?: unknown },
): Client;
export function webSocket(url: string, options?: { WebSocket?: unknown }): Dial;

export type PatchOperation =
  | { op: "add" | "replace" | "test"; path: string; value: Json }
  | { op: "remove"; path: string }
  | { op: "move" | "copy"; from: string; path: string };

/** The state after the operations; the one before stays as it is, and shares what they do not touch. */
export function applyPatch<State>(state: State, operations: readonly PatchOperation[]): State;
/** The text of a JSON value in the form of RFC 8785. */
export function canonical(value: unknown): string;
export function crc32(bytes: Uint8Array): number;
export function digest(state: unknown): number;

/**
 * Text from a server for a terminal or a log: what would be executed there, or would reorder the text beside it,
 * is replaced by characters that show, one by one.
 */
export function visible(text: unknown): string;

/** Everything that this client rejects and throws. Each `message` is `visible`. */
export class StatewireError extends Error {}
/** The patch does not fit the state; nothing of it was applied. */
export class PatchError extends StatewireError {}
/** The connection ended before the answer came; whether the server did it is not known. */
export class ConnectionLostError extends StatewireError {}
/** No answer came in time. */
export class TimeoutError extends StatewireError {}
export class ClientClosedError extends StatewireError {}
/** Another connection has attached under this frontend's name. */
export class EvictedError extends ClientClosedError {}
/** More inputs wait for their answer than the client keeps. */
export class OverflowError extends StatewireError {}

/** The server's answer is an error. Codes that have no class of their own are of this one. */
export class RpcError extends StatewireError {
  constructor(code: number, message: string, data?: unknown, options?: ErrorOptions);
  readonly code: number;
  readonly data: any;
}
export class ParseError extends RpcError {}
export class InvalidRequestError extends RpcError {}
export class MethodNotFoundError extends RpcError {}
export class InvalidParamsError extends RpcError {
  /** A JSON Pointer into the params, where the server names one. */
  readonly path: string | undefined;
}
export class InternalError extends RpcError {}
export class CancelledError extends RpcError {}
export class UnknownStoreError extends RpcError {}
export class StoreClosedError extends RpcError {}
export class UnknownSessionError extends RpcError {}
export class SessionOverError extends RpcError {}
export class ObserverError extends RpcError {}
export class LimitError extends RpcError {
  readonly limit: string | undefined;
  readonly path: string | undefined;
}
export class UnauthorisedError extends RpcError {}
export class UnsupportedVersionError extends RpcError {
  readonly supported: string[] | undefined;
}
export class StoreConflictError extends RpcError {}
export class OutOfOrderError extends RpcError {
  readonly sequence: number | undefined;
}
export function rpcError(error: { code: number; message: string; data?: unknown }): RpcError;

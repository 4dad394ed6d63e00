// SPDX-License-Identifier: Apache-2.0

/** A client of a store; all members are null for the server. */
export interface Viewer {
  identity: string | null;
  frontend: string | null;
  role: string | null;
}

/** The circumstances of an input or action. */
export interface Context<Configuration = any> {
  /** The name of the store in its session. */
  name: string;
  configuration: Configuration;
  /** Milliseconds since 1970 by the clock of the server. */
  now: number;
  viewer: Viewer;
  isAction: boolean;
  /** The failure that the action stands for. */
  error: { reason: "error" | "timeout" | "interrupted" | "fault"; message: string } | null;
}

/**
 * An effect, an event or a redaction, made by one of the functions below. They throw a `TypeError` if it breaks the rules
 * of the protocol: then the input gets an error, and a test fails.
 */
export class Effect {
  private constructor();
  readonly type: string;
  readonly members: Record<string, unknown>;
}

/**
 * The next state, or a pair of it and its effects. `undefined` stands for an unchanged state. A state is not an array
 * itself, and is never changed in place: it is frozen.
 */
export type Updated<State> = State | undefined | void | [State | undefined, Effect | Effect[]];

/** The context of work. */
export interface Work {
  name: string;
  /** The number of the attempt, from 1. */
  attempt: number;
  /** Aborted when the result is not needed any more. */
  signal: AbortSignal;
  /** Sends an action while the work runs, not null; does nothing after the work is cancelled. */
  send(action: unknown): void;
}

/** A store kind. All functions except those of `runs` are pure. */
export interface StoreKind<State = any, Event = any, Configuration = any> {
  /** The first state, or a function that returns it; it throws a `Refusal` to refuse the configuration. */
  initial: State | ((configuration: Configuration, context: Context<Configuration>) => State | [State, Effect | Effect[]]);
  /** Returns the state after an input or action; throws a `Refusal` to refuse an input. */
  update(state: State, event: Event, context: Context<Configuration>): Updated<State>;
  /**
   * Returns what clients receive; undefined for the state. With `viewsBy`, `viewer` has this property only, and the
   * view of all other clients is that of a viewer of nulls.
   */
  view?(state: State, viewer: Viewer, configuration: Configuration): unknown;
  viewsBy?: "identity" | "frontend" | "role";
  /** Returns the state after the subscribers have changed. */
  viewers?(state: State, viewers: Viewer[], context: Context<Configuration>): Updated<State>;
  /** The version of the form of the states; 1 by default. */
  version?: number;
  /** Converts a state of an older version. */
  migrate?(version: number, state: any): State;
  /** The work by name; each function returns the action of the work, or undefined or null for none, or throws. */
  runs?: Record<string, (args: any, work: Work) => unknown>;
  /** JSON Schemas (draft 2020-12). The server refuses inputs and configurations that do not fit theirs. */
  schemas?: { configuration?: object; input?: object; viewState?: object; event?: object };
}

/** Refuses an input or a configuration. `path` leads into it, `limit` is the name of a limit that it exceeds. */
export class Refusal extends Error {
  constructor(message: string, path?: (string | number)[], limit?: string);
  readonly path: (string | number)[];
  readonly limit?: string;
}

/** Applies an action before later inputs. A test can inject faults into `name`; then `failed` is applied. */
export function action(
  action: unknown,
  options?: { name?: string; id?: string; failed?: unknown; latest?: true },
): Effect;
/** Sends an action when the time has passed. */
export function after(milliseconds: number, action: unknown, id?: string): Effect;
/** Sends an action again and again until `cancel(id)`. Nothing changes if an `every` with this id runs. */
export function every(milliseconds: number, action: unknown, id: string): Effect;
/** Cancels the effects of the store with this id. */
export function cancel(id: string): Effect;
/** Asks for the work `runs[name]`, which gives an action. All times are milliseconds. */
export function run(
  name: string,
  args?: unknown,
  policies?: {
    id?: string;
    /** The action if the work fails. */
    failed?: unknown;
    latest?: true;
    serial?: string;
    debounce?: number;
    throttle?: number;
    retry?: { attempts: number; milliseconds: number };
    timeout?: number;
    restart?: "fail" | "again";
  },
): Effect;
/** Sends an event once, to all subscribers or to the viewers in `to`. */
export function event(event: unknown, to?: string[]): Effect;
/** Marks the change as one that hides something that clients have received. */
export function redacted(): Effect;

/**
 * Serves a store kind until the server closes the standard input. Later output of the program goes to standard error, on
 * Linux also that of child processes that inherit standard output. A child process must not inherit standard input.
 * Given the `import.meta` of a module, it serves only if Node runs this module, so that tests can import it.
 */
export function serve<State, Event, Configuration>(
  kind: StoreKind<State, Event, Configuration>,
  meta?: { url: string },
): void;

/** The store has done something that the test does not expect. */
export class TestFailure extends Error {}

/**
 * A store for tests. `send` sends an input; immediate actions are part of it. All later actions and all events must be
 * received in their order, before the next `send`. A step that throws changes nothing. Work is called immediately; pass a
 * kind with other `runs` to replace it.
 */
export class TestStore<State = any, Event = any> {
  constructor(
    kind: StoreKind<State, Event>,
    options?: {
      configuration?: unknown;
      viewer?: Partial<Viewer>;
      /** A state to restore, and the version that has made it. */
      restoring?: unknown;
      version?: number;
      now?: number;
    },
  );
  /** The state after the last step that was sent or received. */
  readonly state: State;
  /** Returns what a subscribed viewer receives of the state. */
  viewFor(viewer: Partial<Viewer>): any;
  /** The view of clients that have none of their own. */
  readonly view: any;
  /** Sends an input; rejects with the `Refusal` if the store refuses it. */
  send(input: Event, viewer?: Partial<Viewer>): Promise<void>;
  /** Sets the subscribed viewers. */
  present(viewers: Partial<Viewer>[]): Promise<void>;
  /** Takes the next action that has come later. */
  receive(action: unknown): Promise<void>;
  /** Takes the next event. */
  receiveEvent(event: unknown): Promise<void>;
  /** Moves the clock. */
  advance(milliseconds: number): Promise<void>;
  /** Makes the next calls of work, or the next actions with a name, fail or not end. */
  inject(name: string, fault: "fail" | "hang", times?: number): void;
  /** Ends the program, and restores the store from its state after some milliseconds. */
  restart(after?: number): Promise<void>;
  /** Checks that everything was received and that no effect is left, except `every`. */
  finish(): Promise<void>;
}

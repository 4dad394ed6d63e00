// SPDX-License-Identifier: Apache-2.0

import type { Client, ClientOptions, Dial } from "./index.js";

export {
  applyPatch,
  canonical,
  Client,
  ConnectionLostError,
  crc32,
  digest,
  ExpiredSessionError,
  ForbiddenError,
  InternalError,
  InvalidParamsError,
  InvalidRequestError,
  LimitError,
  MethodNotFoundError,
  ObserverError,
  OtherConfigurationError,
  OutOfOrderError,
  ParseError,
  PatchError,
  printable,
  ProtocolVersionError,
  RequestCancelledError,
  RPCError,
  rpcError,
  SessionEndedError,
  StatewireError,
  Store,
  StoreClosedError,
  TimedOutError,
  TooManyPendingError,
  UnauthorisedError,
  UnknownSessionError,
  UnknownStoreError,
} from "./index.js";
export * from "./types.js";

/** Options of Node's `tls.connect` and `https.request`, such as `ca`, `cert` and `key`. */
export interface TlsOptions {
  [option: string]: unknown;
}

/** Options of Node's `child_process.spawn`. */
export interface ProcessOptions {
  [option: string]: unknown;
}

/** Makes a client of the server at `tcp://host:port`, `tls://host:port`, `unix:/path`, `ws://…` or `wss://…`. */
export function connect(address: string, options?: ClientOptions & { tls?: TlsOptions }): Client;
/** Makes a client that spawns its own server and ends it. */
export function spawn(
  command: string,
  args?: string[],
  options?: ClientOptions & { process?: ProcessOptions },
): Client;
export function dial(address: string, options?: { tls?: TlsOptions }): Dial;
export function socket(address: { host?: string; port?: number; path?: string }): Dial;
export function tlsSocket(options: { host: string; port: number } & TlsOptions): Dial;
export function webSocket(url: string, options?: TlsOptions): Dial;
export function process(command: string, args?: string[], options?: ProcessOptions): Dial;

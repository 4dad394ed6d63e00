// SPDX-License-Identifier: Apache-2.0
//
// What can go wrong: on the way (no answer came) and at the server (an answer with a code).

export class StatewireError extends Error {
  constructor(message, options) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** The connection ended before the answer came; whether the server did it is not known. */
export class ConnectionLostError extends StatewireError {}
/** No answer came in time. */
export class TimeoutError extends StatewireError {}
/** The client was closed. */
export class ClientClosedError extends StatewireError {}
/** Another connection has attached under this frontend's name. */
export class EvictedError extends ClientClosedError {}
/** More inputs wait for a connection than the client keeps. */
export class OverflowError extends StatewireError {}

/** The server's answer is an error. Codes that have no class of their own are of this one. */
export class RpcError extends StatewireError {
  constructor(code, message, data, options) {
    super(message, options);
    this.code = code;
    this.data = data;
  }
}

export class ParseError extends RpcError {}
export class InvalidRequestError extends RpcError {}
export class MethodNotFoundError extends RpcError {}
export class InvalidParamsError extends RpcError {
  /** A JSON Pointer into the params. */
  get path() {
    return this.data?.path;
  }
}
export class InternalError extends RpcError {}
export class CancelledError extends RpcError {}
export class UnknownStoreError extends RpcError {}
export class StoreClosedError extends RpcError {}
export class UnknownSessionError extends RpcError {}
export class SessionOverError extends RpcError {}
export class ObserverError extends RpcError {}
export class LimitError extends RpcError {
  get limit() {
    return this.data?.limit;
  }
  get path() {
    return this.data?.path;
  }
}
export class UnauthorisedError extends RpcError {}
export class UnsupportedVersionError extends RpcError {
  get supported() {
    return this.data?.supported;
  }
}
export class StoreConflictError extends RpcError {}
export class OutOfOrderError extends RpcError {
  get sequence() {
    return this.data?.sequence;
  }
}

const classes = new Map([
  [-32700, ParseError],
  [-32600, InvalidRequestError],
  [-32601, MethodNotFoundError],
  [-32602, InvalidParamsError],
  [-32603, InternalError],
  [-32800, CancelledError],
  [-32010, UnknownStoreError],
  [-32011, StoreClosedError],
  [-32012, UnknownSessionError],
  [-32013, SessionOverError],
  [-32014, ObserverError],
  [-32015, LimitError],
  [-32016, UnauthorisedError],
  [-32017, UnsupportedVersionError],
  [-32018, StoreConflictError],
  [-32019, OutOfOrderError],
]);

/** The error of an answer. */
export function rpcError({ code, message, data }) {
  return new (classes.get(code) ?? RpcError)(code, message, data);
}

/** What a request ends with whose signal was aborted, before the server has said so. */
export function cancelled(signal) {
  return new CancelledError(-32800, "the request was cancelled", undefined, {
    cause: signal.reason,
  });
}

// SPDX-License-Identifier: Apache-2.0

export class StatewireError extends Error {
  constructor(message, options) {
    super(message, options);
    this.name = new.target.name;
  }
}
export class ConnectionLostError extends StatewireError {}
export class TimeoutError extends StatewireError {}
export class ClientClosedError extends StatewireError {}
export class EvictedError extends ClientClosedError {}
export class OverflowError extends StatewireError {}

/** An error of the server's, of a class of its own where its code has one. */
export class RpcError extends StatewireError {
  constructor(code, message, data, options) {
    super(message, options);
    const { path, limit, supported, sequence } = data ?? {};
    Object.assign(this, { code, data, path, limit, supported, sequence });
  }
}

const codes = {
  ParseError: -32700,
  InvalidRequestError: -32600,
  MethodNotFoundError: -32601,
  InvalidParamsError: -32602,
  InternalError: -32603,
  CancelledError: -32800,
  UnknownStoreError: -32010,
  StoreClosedError: -32011,
  UnknownSessionError: -32012,
  SessionOverError: -32013,
  ObserverError: -32014,
  LimitError: -32015,
  UnauthorisedError: -32016,
  UnsupportedVersionError: -32017,
  StoreConflictError: -32018,
  OutOfOrderError: -32019,
};
const named = {};
const coded = {};
for (const [name, code] of Object.entries(codes))
  named[name] = coded[code] = { [name]: class extends RpcError {} }[name];

export const { ParseError, InvalidRequestError, MethodNotFoundError, InvalidParamsError } = named;
export const { InternalError, CancelledError, UnknownStoreError, StoreClosedError } = named;
export const { UnknownSessionError, SessionOverError, ObserverError, LimitError } = named;
export const { UnauthorisedError, UnsupportedVersionError, StoreConflictError } = named;
export const { OutOfOrderError } = named;

export function rpcError({ code, message, data }) {
  return new (coded[code] ?? RpcError)(code, message, data);
}

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

/** An error of the server's. Codes without a class of their own are of this one. */
export class RpcError extends StatewireError {
  constructor(code, message, data, options) {
    super(message, options);
    const { path, limit, supported, sequence } = data ?? {};
    Object.assign(this, { code, data, path, limit, supported, sequence });
  }
}
export class ParseError extends RpcError {}
export class InvalidRequestError extends RpcError {}
export class MethodNotFoundError extends RpcError {}
export class InvalidParamsError extends RpcError {}
export class InternalError extends RpcError {}
export class CancelledError extends RpcError {}
export class UnknownStoreError extends RpcError {}
export class StoreClosedError extends RpcError {}
export class UnknownSessionError extends RpcError {}
export class SessionOverError extends RpcError {}
export class ObserverError extends RpcError {}
export class LimitError extends RpcError {}
export class UnauthorisedError extends RpcError {}
export class UnsupportedVersionError extends RpcError {}
export class StoreConflictError extends RpcError {}
export class OutOfOrderError extends RpcError {}

const classes = {
  [-32700]: ParseError,
  [-32600]: InvalidRequestError,
  [-32601]: MethodNotFoundError,
  [-32602]: InvalidParamsError,
  [-32603]: InternalError,
  [-32800]: CancelledError,
  [-32010]: UnknownStoreError,
  [-32011]: StoreClosedError,
  [-32012]: UnknownSessionError,
  [-32013]: SessionOverError,
  [-32014]: ObserverError,
  [-32015]: LimitError,
  [-32016]: UnauthorisedError,
  [-32017]: UnsupportedVersionError,
  [-32018]: StoreConflictError,
  [-32019]: OutOfOrderError,
};

export function rpcError({ code, message, data }) {
  return new (classes[code] ?? RpcError)(code, message, data);
}

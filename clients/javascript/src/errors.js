// SPDX-License-Identifier: Apache-2.0

// Control characters and those that reorder the text beside them.
const hidden = /[\0-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

export const visible = (text) =>
	`${text}`.replace(hidden, (character) => {
		const picture = { "\x7f": "␡", "\x85": "␤", "\u2028": "␤" }[character] ?? "�";
		return character < " " ? String.fromCharCode(0x2400 + character.charCodeAt()) : picture;
	});

export class StatewireError extends Error {
	constructor(message, options) {
		super(visible(message), options);
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
		Object.assign(this, { code, data });
	}

	// No other member of the server's: it could be `message` or `stack`.
	get limit() {
		return this.data?.limit;
	}
	get path() {
		return this.data?.path;
	}
	get sequence() {
		return this.data?.sequence;
	}
	get supported() {
		return this.data?.supported;
	}
}

const named = {};
const coded = {};
function name(code, ...names) {
	for (const name of names)
		named[name] = coded[code--] = { [name]: class extends RpcError {} }[name];
}
name(-32700, "ParseError");
name(-32600, "InvalidRequestError", "MethodNotFoundError", "InvalidParamsError", "InternalError");
name(-32800, "CancelledError");
name(-32010, "UnknownStoreError", "StoreClosedError", "UnknownSessionError", "SessionOverError");
name(-32014, "ObserverError", "LimitError", "UnauthorisedError", "UnsupportedVersionError");
name(-32018, "StoreConflictError", "OutOfOrderError");

export const { ParseError, InvalidRequestError, MethodNotFoundError, InvalidParamsError } = named;
export const { InternalError, CancelledError, UnknownStoreError, StoreClosedError } = named;
export const { UnknownSessionError, SessionOverError, ObserverError, LimitError } = named;
export const { UnauthorisedError, UnsupportedVersionError, StoreConflictError } = named;
export const { OutOfOrderError } = named;

export function rpcError({ code, message, data }) {
	return new (coded[code] ?? RpcError)(code, message, data);
}

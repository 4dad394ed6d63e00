// SPDX-License-Identifier: Apache-2.0

// Control characters and bidirectional controls.
const hidden = /[\0-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

export const printable = (text) =>
	`${text}`.replace(hidden, (character) => {
		const picture = { "\x7f": "␡", "\x85": "␤", "\u2028": "␤" }[character] ?? "�";
		return character < " " ? String.fromCharCode(0x2400 + character.charCodeAt()) : picture;
	});

export class StatewireError extends Error {
	constructor(message, options) {
		super(printable(message), options);
		this.name = new.target.name;
	}
}
export class ConnectionLostError extends StatewireError {}
export class TimedOutError extends StatewireError {}
export class SessionEndedError extends StatewireError {
	constructor(reason) {
		super(`the session has ended for this client: ${reason}`);
		this.reason = reason;
	}
}
export class TooManyPendingError extends StatewireError {}

/** An error response of the server. */
export class RPCError extends StatewireError {
	constructor(code, message, data, options) {
		super(message, options);
		Object.assign(this, { code, data });
	}

	// Other members of the data are not copied: one could be named `message` or `stack`.
	get limit() {
		return this.data?.limit;
	}
	get path() {
		return this.data?.path;
	}
	get reason() {
		return this.data?.reason;
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
		named[name] = coded[code--] = { [name]: class extends RPCError {} }[name];
}
name(-32700, "ParseError");
name(-32600, "InvalidRequestError", "MethodNotFoundError", "InvalidParamsError", "InternalError");
name(-32800, "RequestCancelledError");
name(-32010, "UnknownStoreError", "StoreClosedError", "UnknownSessionError", "ExpiredSessionError");
name(-32014, "ObserverError", "LimitError", "UnauthorisedError", "ProtocolVersionError");
name(-32018, "OtherConfigurationError", "OutOfOrderError", "ForbiddenError");

export const { ParseError, InvalidRequestError, MethodNotFoundError, InvalidParamsError } = named;
export const { InternalError, RequestCancelledError, UnknownStoreError, StoreClosedError } = named;
export const { UnknownSessionError, ExpiredSessionError, ObserverError, LimitError } = named;
export const { UnauthorisedError, ProtocolVersionError, OtherConfigurationError } = named;
export const { OutOfOrderError, ForbiddenError } = named;

export function rpcError({ code, message, data }) {
	return new (coded[code] ?? RPCError)(code, message, data);
}

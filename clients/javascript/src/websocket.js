// SPDX-License-Identifier: Apache-2.0

import { ConnectionLostError, StatewireError } from "./errors.js";

export function webSocket(url, { WebSocket = globalThis.WebSocket } = {}) {
	if (!WebSocket) throw new StatewireError("no WebSocket in this environment; pass the option WebSocket");
	return ({ message, closed, signal }) =>
		new Promise((resolve, reject) => {
			const socket = new WebSocket(url);
			const close = () => socket.close();
			signal?.addEventListener("abort", close);
			socket.onopen = () => {
				signal?.removeEventListener("abort", close);
				resolve({ send: (text) => socket.send(text), close });
			};
			socket.onmessage = ({ data }) => message(data);
			socket.onclose = ({ code, reason }) => {
				const error = new ConnectionLostError(`the WebSocket was closed: ${code} ${reason}`);
				reject(error);
				closed(error);
			};
		});
}

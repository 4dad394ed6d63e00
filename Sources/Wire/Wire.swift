// SPDX-License-Identifier: Apache-2.0

// Wire: converts bytes to JSON-RPC messages and back, for the server and for clients.
//
//     bytes -> FrameReader     -> frame -> Envelope: id, method, params as ranges of the text
//     bytes -> WebSocketReader -> frame
//     bytes <- FrameWriter, WebSocketHead <- message
//
// - `Framing`: one message per line, or a header block before each message. `Opening` rejects a
//   stream of another protocol (`ForeignProtocol`).
// - `WebSocketHandshake`: the key of a client and the value in the server's response.
// - `RequestID`: a copy of an id that can outlive its message.
// - `RPCError(notJSON:)` and similar initializers: the error for a frame or parameters that cannot
//   be read.
//
// Every type is a value that accepts bytes in chunks of any size and reports events.
//
// The module must never contain a socket, a connection, a session, or a method.

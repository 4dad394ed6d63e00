// SPDX-License-Identifier: Apache-2.0

// Wire: from bytes to JSON-RPC messages and back, for the server and for clients.
//
//     bytes -> FrameReader     -> frame -> Envelope: id, method, params as places in the text
//     bytes -> WebSocketReader -> frame
//     bytes <- FrameWriter, WebSocketHead <- message
//
// - `Framing`: one message per line, or a header block before each message. `Opening` rejects a stream of
//   another protocol (`ForeignProtocol`).
// - `WebSocketHandshake`: the key of a client and the response of a server.
// - `RequestID`: an id that is kept longer than its message.
// - `RPCError(notJSON:)` and its neighbours: the response to a frame, or to parameters, that cannot be read.
//
// All of it is a value that takes bytes in chunks of any size and gives events.
//
// What must never be here: a socket, a connection, a session, or a method.

// SPDX-License-Identifier: Apache-2.0

// Transports: where bytes come from and go to, and who is let in.
//
//     socket -> Acceptor -> [NIOSSLServerHandler, HandshakeHandler] -> ConnectionHandler -> Connection
//     browser -> Acceptor -> [TLS] -> WebHandler -> WebSocketHandler -> ConnectionHandler -> Connection
//     standard input and output -> StandardPeer -> Connection
//
// `Server` is the face of it, with one of two backends: `SocketServer` on an event loop of SwiftNIO,
// or `StandardServer` on a `PollLoop`, where nothing but standard input and output is served.
//
// - A turn: the loop enters the shard once, with what has come from one peer. Turns do not nest, so
//   what a write calls back in the middle of one waits for a turn of its own.
// - A round (`SendRound`): what the connections have written in several turns and send together.
// - To yield (`YieldQueue`): a turn that has worked for long lets the loop hear others, and goes on.
// - A sweep: once a second all peers are looked at, connected or pending, and whoever has gone beyond
//   an `IdleTimeout`, an `UnreadTimeout` or a `FrameTimeout`, or does not answer to a `KeepAlive`,
//   is refused or closed.
//
// `Client` is the same from the other end, for clients in Swift and for conversations that are played.
//
// What must never be here: knowledge of a method, or of what a session is. Bytes are looked at only to
// tell a WebSocket's messages apart and to read the head of an HTTP request.

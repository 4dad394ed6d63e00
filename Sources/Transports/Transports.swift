// SPDX-License-Identifier: Apache-2.0

// Transports: where bytes come from and go to, and who is let in.
//
//     socket -> Acceptor -> [NIOSSLServerHandler, HandshakeHandler] -> ConnectionHandler -> Connection
//     browser -> Acceptor -> [TLS] -> WebHandler -> WebSocketHandler -> ConnectionHandler -> Connection
//     standard input and output -> StandardClient -> Connection, or StandardBridge -> Acceptor -> …
//
// `Server` is the face of it, with one of two backends: `SocketServer` on an event loop of SwiftNIO,
// or `StandardServer` on a `PollLoop`, where nothing but standard input and output is served. Either begins
// and ends the shard, and calls it about once a second to end sessions whose time is over.
//
// - A turn: the loop enters the shard once, with what has come from one peer. Turns do not nest, so
//   what a write calls back in the middle of one waits for a turn of its own.
// - Writes of several connections are held briefly and sent together (`WriteCoalescer` of Delivery), and so are the
//   updates of passive subscribers (`BroadcastCoalescer`).
// - To yield (`YieldQueue`): a turn that has worked for long ends, the loop hears others, and the
//   connection goes on in a turn of its own; so do the jobs of the shard (`LoopExecutor`).
// - A sweep: once a second `SocketServer` looks at all its peers, connected or pending; strangers who have
//   gone beyond an `IdleTimeout`, an `UnreadTimeout` or a `FrameTimeout`, or do not answer to a
//   `KeepAlive`, are refused or closed.
//
// The other end, for clients in Swift and for conversations that are played, is the module `ClientTransports`.
//
// What must never be here: knowledge of a method, or of what is in a session. A server looks at bytes only
// to tell a WebSocket's messages apart and to read the head of an HTTP request.

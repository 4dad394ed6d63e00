// SPDX-License-Identifier: Apache-2.0

// Transports: the server's ends of connections, and the decision which clients it accepts.
//
//     socket -> Acceptor -> [NIOSSLServerHandler, HandshakeHandler] -> ConnectionHandler -> Connection
//     browser -> Acceptor -> [TLS] -> WebHandler -> WebSocketHandler -> ConnectionHandler -> Connection
//     standard input and output -> StandardClient -> Connection, or StandardBridge -> Acceptor -> …
//
// `Server` is the public interface. It has one of two backends: `SocketServer` on an event loop of
// SwiftNIO, or `StandardServer` on a `PollLoop` where the server serves only standard input and
// output. Each backend starts and stops the shard, and calls it once a second to end sessions that
// have expired.
//
// - Turn: the loop enters the shard once, with the input of one client. An event that a write
//   to an output causes gets a later turn.
// - Write coalescing: writes of several connections are held briefly and sent together
//   (`WriteCoalescer` of Delivery), and so are the updates of passive subscribers
//   (`BroadcastCoalescer`).
// - Yielding (`YieldQueue`): a turn that has taken long ends, the loop reads its sockets, and the
//   connection continues in a later turn. The shard's jobs yield in the same way (`LoopExecutor`).
// - Sweep: once a second `SocketServer` checks all its clients, connected and pending. A client
//   that exceeds an `IdleTimeout`, an `UnreadTimeout` or a `FrameTimeout`, or does not respond to
//   the ping of a `KeepAlive`, is refused or disconnected.
//
// The client's end, for Swift clients and for conversation files, is the module `ClientTransports`.
//
// Never here: methods and the contents of sessions. A server parses bytes only to find the messages
// of a WebSocket and of a node, and to read the head of an HTTP request. `ServerStatus` is what the
// module `Admin`, the interface of operators, reads of a server.

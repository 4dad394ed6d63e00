// SPDX-License-Identifier: Apache-2.0

// ClientTransports: the client's end of a connection to a server.
//
//     ClientConnection.connect -> socket -> [TLS] -> [WebSocketClientHandler] -> ClientHandler -> ClientInbox
//     ClientConnection.spawn   -> ChildProcess -> its standard streams        -> ClientHandler -> ClientInbox
//
// `ClientConnection` sends and receives messages; it knows frames and nothing of what is in them.
// `ClientTrust` says which servers it accepts over TLS, and `ClientError` why it cannot talk to one.
//
// What must never be here: the server, a session or a store, so that a client in Swift links none of them.

// SPDX-License-Identifier: Apache-2.0

// ClientTransports: the client's end of a connection to a server.
//
//     ClientConnection.connect -> socket -> [TLS] -> [WebSocketClientHandler] -> ClientHandler -> ClientInbox
//     ClientConnection.spawn   -> ChildProcess -> its standard streams        -> ClientHandler -> ClientInbox
//
//     SocketRelay, StandardRelay: bytes between a client and a server, with a copy for a `RelayTap`
//
// `ClientConnection` sends and receives messages; it does not parse them. `ClientTrust` decides
// which servers are accepted over TLS. `ClientError` is the reason why a client and a server cannot
// communicate.
//
// Never here: the server, sessions and stores, so that Swift clients do not link them.

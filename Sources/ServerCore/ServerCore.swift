// SPDX-License-Identifier: Apache-2.0

// ServerCore: JSON-RPC over bytes that somebody else carries.
//
//     bytes -> FrameReader, Envelope (Wire) -> Request -> Methods -> Session
//     bytes <- ClientWriter (Delivery) <- responses of methods, updates and events of the session
//
// `Connection` is the whole of it for one client: it takes events of a transport (`Connection.Event`), and its writer has
// actions for a `ConnectionOutput`. It has no thread, no socket and no clock of its own.
//
// - A message is one frame; a batch is one message with several requests.
// - A method is a function of its params (or the request) and a `MethodContext`; the connection turns its `MethodResult`
//   into a response.
// - A `RequestTemplate` is what the requests of a client have in common: the next one is read by what differs.
// - Congested: the client does not read, or this turn has written much for it, or too much waits for commits. What the
//   client sends waits unread.
// - Held up: congested, or another thread writes a response or prepares a request.
//
// How a method is added stands in CONTRIBUTING.md.
//
// What must never be here: a socket, a file, or what an input of some store means.

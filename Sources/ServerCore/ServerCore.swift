// SPDX-License-Identifier: Apache-2.0

// ServerCore: JSON-RPC over bytes that a transport carries.
//
//     bytes -> FrameReader, Envelope (Wire) -> Request -> Methods -> Session
//     bytes <- ClientWriter (Delivery) <- responses of methods, updates and events of the session
//
// `Connection` serves one client: it takes events of a transport (`Connection.Event`), and its
// writer has actions for a `ConnectionOutput`. It has no thread, no socket and no clock.
//
// - A message is one frame. A batch is one message with several requests.
// - A method is a function of its params (or the request) and a `MethodContext`. The connection
//   turns its `MethodResult` into a response.
// - A `RequestTemplate` is the text that requests of a client have in common. A request that
//   matches a template is read without parsing that text.
// - A connection is congested while the client does not read, when this turn has written much for
//   the client, or while too many bytes wait for commits. The server then reads nothing from it.
// - A connection is held up while it is congested, or while another thread writes a response or
//   prepares a request.
//
// CONTRIBUTING.md describes how to add a method.
//
// Invariant: this module has no socket and no file, and does not interpret the input of a store.

// SPDX-License-Identifier: Apache-2.0

// ServerCore: JSON-RPC over bytes that somebody else carries.
//
//     bytes -> FrameReader, Envelope (Wire) -> Request -> Methods -> Session
//     bytes <- Connection+Writing, or the Outbox of a peer that does not read <- what the session tells
//
// `Connection` is the whole of it for one peer: it is told what has come (`Connection.Event`) and writes
// to a `ConnectionOutput`. It has no thread, no socket and no clock of its own.
//
// - A message is one frame; a batch is one message with several requests.
// - A shape (`SendShape`): what the requests of a peer have in common, so that those like the last one are
//   read by what differs.
// - Congested: the client does not read, or this turn has written much for it, or too much waits for commits. What waits
//   is in its `Outbox`: responses and events as bytes, and one place for the changes of each store, since they are
//   coalesced. What the client sends waits unread.
// - Held up: congested, or an answer is written on another thread (`Connection+Elsewhere`).
// - To follow (`Connection+Following`): a peer that only looks on takes a store's frames from the one text that
//   all who look on at that take theirs from, when it is sent. Whatever is to be written for it before that ends the
//   following first (`endFollowing`), which keeps the order.
//
// How a method is added stands in CONTRIBUTING.md.
//
// What must never be here: a socket, a file, or what an input of some store means.

// SPDX-License-Identifier: Apache-2.0

// ServerCore: JSON-RPC over bytes that somebody else carries.
//
//     bytes -> FrameReader -> Envelope -> Request -> one file per method -> Session
//     bytes <- Outbox <- FrameWriter <- Connection <- what the session tells its frontend
//
// `Connection` is the whole of it for one peer: it is told what has come (`Connection.Event`) and writes
// to a `ConnectionOutput`. It has no thread, no socket and no clock of its own.
//
// - A message is one frame; a batch is one message with several requests.
// - A shape (`SendShape`): what the requests of a peer have in common, so that those like the last one are
//   read by what differs.
// - Congested: the peer does not read. What waits for it is in its `Outbox`, a place for each store and
//   not a queue; what it sends waits unread.
// - Held up: congested, or an answer is written on another thread (`Connection+Elsewhere`).
// - To follow (`Connection+Following`): a peer that only looks on takes its frames, when a turn ends, from
//   the one text that all others take theirs from. Whatever is to be written for it before that ends the
//   following first (`endFollowing`), which keeps the order.
//
// Every new method is one file in `Methods`; a new kind of refusal one case of `Refusal`.
//
// What must never be here: a socket, a file, or what an input of some store means.

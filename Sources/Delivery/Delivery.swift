// SPDX-License-Identifier: Apache-2.0

// Delivery: from the messages of a turn to the bytes that each client receives.
//
//     methods, session -> ClientWriter -> OutputAction -> ClientOutput (a transport)
//
// A `ClientWriter` is all of it for one client. Its delegate, the connection, decides what the client may do.
//
// - `Outbox`: messages for a client that does not read, or that has been sent much: responses and events as bytes, and
//   one place for the updates of each store, since they are coalesced.
// - `CommitQueue`: bytes that wait until the journal has the entries of their turns.
// - Following (`ClientWriter+Following`): a passive subscriber takes the updates of a store from the one text that all
//   passive subscribers of the store share, when it is sent. Whatever is written for the client before that ends the
//   following first (`endFollowing`), which keeps the order.
// - A large frame is written on another thread (`ClientWriter+LargeFrames`); its place in the outbox is kept.
//
// What must never be here: sockets, methods, and what a client may do.

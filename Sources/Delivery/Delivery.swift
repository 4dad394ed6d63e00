// SPDX-License-Identifier: Apache-2.0

// Delivery: from the messages of a turn to the bytes that each client receives.
//
//     methods, session -> ClientWriter -> OutputAction -> ClientOutput (a transport)
//
// One `ClientWriter` does all of this for one client. Its delegate, the connection, decides which
// messages of the client are carried out.
//
// - `Outbox`: the messages for a client that does not read, or that has been sent much. Responses
//   and events are stored as bytes. Each store has one place for its updates, which are coalesced.
// - `CommitQueue`: bytes that wait until the journal contains the entries of their turns.
// - Broadcast buffers (`ClientWriter+Broadcasts`): all passive subscribers of a store take
//   its updates from one buffer when it is sent. Before anything else is written for such a client,
//   it copies its part of the buffer (`leaveBroadcasts`), which keeps the order.
// - Large frames (`ClientWriter+LargeFrames`) are written on another thread. The outbox keeps their
//   place.
//
// This module must not contain sockets, methods or permissions of clients.

// SPDX-License-Identifier: Apache-2.0

// Sessions: named stores, and the participants that use them.
//
//     Shard -> Session -> StoreEntry -> Store
//                 |           |
//              Participant ----> Subscription -> ClientID -> Client
//
// - A `Shard` owns all sessions of one event loop. A turn is one pass of that loop over available
//   input. At its end, the `TurnOutcome` commits journal entries, starts work and delivers messages
//   to clients.
// - A `StoreEntry` is a name in a session and its store, which can be closed and opened again while
//   revisions continue. It writes each update once for all subscriptions.
// - A `Participant` is a client's place in a session. A `Subscription` is its relation to one
//   store: the format of updates, the last request that was applied, and the coalesced update that
//   waits.
// - A `Client` receives messages of the session: the `ClientWriter` of Delivery, or an object of a
//   test. A session stores its `ClientID`, so that a client of another shard can have an id as
//   well. A `NamedFrontend` is the data of a frontend's name across connections.
// - `CoalescedUpdate`: several updates that are coalesced until the client reads.
//   `UpdateHistory`: the last updates, for reconnecting clients. `BroadcastUpdates`: the updates
//   that all passive subscribers of a store receive, written once.
// - The server of a shard calls `sweepSessions` about once a second.
// - `Journal`: the persistent log of sessions. `Testing`: the virtual clock, fault injection and
//   the idle tracker of a server under test.
//
// This module must not contain bytes of a socket, logging or the JSON-RPC envelope.

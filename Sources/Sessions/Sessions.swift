// SPDX-License-Identifier: Apache-2.0

// Sessions: stores by name, and who looks at them.
//
//     Shard -> Session -> StoreEntry -> Store
//                 |           |
//              Participant ----> Subscription -> ClientID -> Client
//
// - A `Shard` owns everything on one event loop. A turn is one entry of that loop: what has come is carried
//   out, and at the `TurnOutcome` the journal is written, held work begins, and frontends send.
// - A `StoreEntry` is a name in a session and what has it: a store that may be closed and opened again while
//   revisions go on. It makes the frame of a change once, for all.
// - A `Participant` is the seat of a frontend in a session; an `Subscription` is its hold on one store: whether it
//   has subscribed, in which format, the last of its requests that was folded, and what waits for it.
// - A `Client` receives what the session has for a client: the `ClientWriter` of Delivery, or an object of a test. It is
//   found by its `ClientID`, so that one behind another shard can be addressed like one of this shard.
//   `NamedFrontend` is what is remembered of one by its name, across its connections.
// - A frame that cannot be sent yet is merged (`CoalescedUpdate`); one that a frontend has missed comes from
//   the `UpdateHistory`; one that all who only look on get alike is written once (`BroadcastUpdates`).
// - Whoever drives a shard calls `expireSessions` about once a second, in a turn.
// - `Journal`: what outlives the process. `Testing`: the clock, faults and quiescence of a server under
//   test.
//
// What must never be here: bytes of a socket, logging, and the JSON-RPC envelope.

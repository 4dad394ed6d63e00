// SPDX-License-Identifier: Apache-2.0

// Conversations: scripted RPC as text, played against any server.
//
//     text  -> ConversationParser -> Conversation      pure; every error has file:line:column
//     steps -> ConversationPlayer -> channels          a closure makes them: in memory, stdio, sockets
//           -> ConversationOutcome                     passed, or where it went another way and how
//           -> [Rewrite] -> text                       what came instead, placeholders kept
//     files -> ConversationRun                         what `statewire play` does
//
// The format is described for its users in Protocol/Conversations/README.md; what is written there
// is what holds. It knows JSON and the arrows of JSON-RPC's own examples, but no method of ours.
//
// What must never be here: knowledge of Statewire's methods, and of how a server works inside.

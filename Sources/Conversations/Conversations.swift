// SPDX-License-Identifier: Apache-2.0

// Conversations: scripted RPC as text, played against any server.
//
//     text  -> ConversationParser -> Conversation      pure; every error has file:line:column
//     steps -> ConversationPlayer -> channels          opened by a closure: memory, stdio, sockets
//           -> ConversationOutcome                     passed, or the first failure and its reason
//           -> [Rewrite] -> text                       the received values, with placeholders kept
//     files -> ConversationRun                         the implementation of `statewire play`
//
// Protocol/Conversations/README.md specifies the format. This module knows JSON and the arrows of
// the examples in the JSON-RPC specification, but no method of Statewire.
//
// Never here: knowledge of Statewire's methods, and of the implementation of a server.

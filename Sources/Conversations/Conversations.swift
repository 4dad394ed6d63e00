// SPDX-License-Identifier: Apache-2.0

// Conversations: scripted RPC as text, played against any server.
//
//     text  -> ConversationParser -> Conversation      pure; every error has file:line:column
//     steps -> ConversationPlayer -> channels          opened by a closure: memory, stdio, sockets
//           -> ConversationOutcome                     passed, or the first failure and its reason
//           -> [Rewrite] -> text                       the received values, with placeholders kept
//     files -> ConversationRun                         the implementation of `statewire play`
//     bytes -> RelayedMessages -> ConversationRecorder -> lines      `statewire record`
//     steps -> LoadScript, LoadSchedule, LoadExchange -> LoadReport   `statewire load`
//
// Protocol/Conversations/README.md specifies the format. This module knows JSON and the arrows of
// the examples in the JSON-RPC specification. Only the recorder knows methods of Statewire, because
// secrets depend on them (`RecordedMessages`); a load counts `store/send`.
//
// Never here: knowledge of the implementation of a server.

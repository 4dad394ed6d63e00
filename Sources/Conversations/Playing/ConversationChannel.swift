// SPDX-License-Identifier: Apache-2.0

public import ClientTransports

/// One connection to a server, as a conversation uses it.
///
/// One task uses it at a time.
public protocol ConversationChannel: Sendable {
  /// Sends one message in a frame of its own.
  func send(_ message: [UInt8]) async throws

  /// Sends bytes as they are.
  func send(raw bytes: [UInt8]) async throws

  /// The next message, without its frame; nil once the server has closed the connection.
  ///
  /// - Throws: `CancellationError` if the task is cancelled; a message is never lost that way.
  func receive() async throws -> [UInt8]?

  /// Tells the server that nothing more will be sent.
  func closeInput() async throws

  /// Ends the connection.
  func close() async
}

extension ClientConnection: ConversationChannel {}

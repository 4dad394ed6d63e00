// SPDX-License-Identifier: Apache-2.0

public import ClientTransports

/// One connection to a server, for a conversation.
///
/// Only one task uses it at a time.
public protocol ConversationChannel: Sendable {
  /// Sends one message in a frame.
  func send(_ message: [UInt8]) async throws

  /// Sends bytes without a frame.
  func send(raw bytes: [UInt8]) async throws

  /// Receives the next message, without its frame; nil after the server has closed the connection.
  ///
  /// - Throws: `CancellationError` if the task is cancelled; no message is lost in this case.
  func receive() async throws -> [UInt8]?

  /// Closes the sending direction.
  func closeInput() async throws

  /// Closes the connection.
  func close() async
}

extension ClientConnection: ConversationChannel {}

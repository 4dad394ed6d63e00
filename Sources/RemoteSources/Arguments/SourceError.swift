// SPDX-License-Identifier: Apache-2.0

/// The reason why a source or service that the operator named cannot be used.
public struct SourceError: Error, CustomStringConvertible, Equatable, Sendable {
  /// The reason, one sentence for the operator. It never quotes a URL, which may contain a key.
  public let message: String

  init(_ message: String) { self.message = message }

  /// The message.
  public var description: String { message }
}

// SPDX-License-Identifier: Apache-2.0

/// The reason why a server did not start.
public struct StartupError: Error, CustomStringConvertible, Sendable {
  /// The cause, the object and where possible a remedy, in one sentence for the operator.
  public let message: String
  /// The error of a lower layer; nil if there is none.
  public let cause: (any Error)?

  /// Creates an error with a message of one sentence.
  public init(_ message: String, cause: (any Error)? = nil) {
    self.message = message
    self.cause = cause
  }

  /// The message.
  public var description: String { message }
}

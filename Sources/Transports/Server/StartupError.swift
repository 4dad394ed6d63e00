// SPDX-License-Identifier: Apache-2.0

/// The reason why a server did not start.
public struct StartupError: Error, CustomStringConvertible, Sendable {
  /// One sentence for the operator, with the cause, the object and where possible a remedy.
  public let message: String
  /// The error of a lower layer; nil if there is none.
  public let cause: (any Error)?

  /// Creates an error from one sentence.
  public init(_ message: String, cause: (any Error)? = nil) {
    self.message = message
    self.cause = cause
  }

  /// The message.
  public var description: String { message }
}

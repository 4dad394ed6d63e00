// SPDX-License-Identifier: Apache-2.0

/// Why a server did not start.
public struct StartupError: Error, CustomStringConvertible, Sendable {
  /// One sentence for the person who started it.
  public let message: String
  /// What lay behind it.
  public let cause: (any Error)?

  public init(_ message: String, cause: (any Error)? = nil) {
    self.message = message
    self.cause = cause
  }

  public var description: String { message }
}

// SPDX-License-Identifier: Apache-2.0

public import Logging

/// The effects that the console can have on a server, and the log of them.
public struct ConsoleOperations: Sendable {
  /// The log of what operators do; nil for none.
  public var logger: Logger?
  /// Starts the end of the server; nil if the console cannot end it.
  public var drain: (@Sendable () -> Void)?

  /// Creates operations.
  ///
  /// - Parameters:
  ///   - logger: The log of what operators do; nil for none.
  ///   - drain: Starts the end of the server, on any thread; nil if the console cannot end it.
  public init(logger: Logger? = nil, drain: (@Sendable () -> Void)? = nil) {
    (self.logger, self.drain) = (logger, drain)
  }
}

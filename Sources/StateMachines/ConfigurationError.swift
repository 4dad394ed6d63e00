// SPDX-License-Identifier: Apache-2.0

/// A configuration that can be read but not used: a name that nobody knows, a number out of range.
public struct ConfigurationError: Error, Equatable {
  /// Where the fault is, from the configuration's top: member names, and indexes as digits.
  public var path: [String]
  /// What is wrong there, in words for whoever wrote the configuration.
  public let message: String

  /// - Parameters:
  ///   - message: What is wrong.
  ///   - path: Where, from the configuration's top.
  public init(_ message: String, at path: [String]) {
    self.message = message
    self.path = path
  }
}

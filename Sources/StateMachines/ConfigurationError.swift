// SPDX-License-Identifier: Apache-2.0

public import StatewireJSON

/// A configuration that can be read but not used: a name that nobody knows, a number out of range.
public struct ConfigurationError: Error, Equatable {
  /// Where the fault is, from the configuration's top: member names, and indexes as digits.
  public var path: [String]
  /// What is wrong there, in words for whoever wrote the configuration.
  public let message: String
  /// The kind of fault, for programs.
  public let code: JSONError.Code

  /// - Parameters:
  ///   - message: What is wrong.
  ///   - path: Where, from the configuration's top.
  ///   - code: The kind of fault, for programs.
  public init(_ message: String, at path: [String], code: JSONError.Code = .value) {
    self.message = message
    self.path = path
    self.code = code
  }
}

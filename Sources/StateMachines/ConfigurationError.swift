// SPDX-License-Identifier: Apache-2.0

public import StatewireJSON

/// A configuration that can be decoded but not used, for example because a name is unknown or a
/// number is out of range.
public struct ConfigurationError: Error, Equatable {
  /// The path to the fault from the top of the configuration: member names, and indexes as digits.
  public var path: [String]
  /// The fault, in words for the author of the configuration.
  public let message: String
  /// The kind of fault, for programs.
  public let code: JSONError.Code

  /// Creates an error.
  ///
  /// - Parameters:
  ///   - message: The fault, in words for the author of the configuration.
  ///   - path: The path to the fault from the top of the configuration.
  ///   - code: The kind of fault, for programs.
  public init(_ message: String, at path: [String], code: JSONError.Code = .value) {
    self.message = message
    self.path = path
    self.code = code
  }
}

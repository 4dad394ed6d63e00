// SPDX-License-Identifier: Apache-2.0

public import StatewireJSON

/// The reason why a machine refuses an input that was decoded.
public struct InputRefusal: Error, Equatable, Sendable {
  /// The kind of refusal, for programs.
  public let code: JSONError.Code
  /// One sentence for people. It does not quote the input.
  public let message: String
  /// The member of the input that is refused; nil for the whole input.
  public let member: String?

  /// Creates a refusal.
  ///
  /// - Parameters:
  ///   - code: The kind of refusal, for programs.
  ///   - message: One sentence for people. It does not quote the input.
  ///   - member: The member of the input that is refused; nil for the whole input.
  public init(_ code: JSONError.Code, _ message: String, member: String? = nil) {
    self.code = code
    self.message = message
    self.member = member
  }
}

// SPDX-License-Identifier: Apache-2.0

public import StatewireJSON

/// The reason why a machine refuses an input that was decoded.
public struct InputRefusal: Error, Equatable, Sendable {
  /// The kind of a refusal, for programs.
  public enum Code: Hashable, Sendable {
    /// The input is well formed but not allowed. A client gets the error -32602.
    case value
    /// The input exceeds a limit. A client gets the error -32015 with the name of the limit.
    case limit(String)
  }

  /// The kind of refusal, for programs.
  public let code: Code
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
  public init(_ code: Code, _ message: String, member: String? = nil) {
    self.code = code
    self.message = message
    self.member = member
  }
}

extension JSONError.Code {
  /// Creates the code of an error that reports a refusal.
  public init(_ code: InputRefusal.Code) {
    switch code {
    case .value: self = .value
    case .limit(let name): self.init(limit: name)
    }
  }
}

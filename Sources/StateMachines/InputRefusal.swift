// SPDX-License-Identifier: Apache-2.0

public import StatewireJSON

/// Why a machine does not take an input that could be read.
public struct InputRefusal: Error, Equatable, Sendable {
  /// The kind of refusal, for programs.
  public let code: JSONError.Code
  /// One sentence for people; it quotes nothing of the input.
  public let message: String
  /// Which member of the input it is about; nil: all of it.
  public let member: String?

  /// - Parameters:
  ///   - code: The kind of refusal, for programs.
  ///   - message: One sentence for people; it quotes nothing of the input.
  ///   - member: Which member of the input it is about; nil: all of it.
  public init(_ code: JSONError.Code, _ message: String, member: String? = nil) {
    self.code = code
    self.message = message
    self.member = member
  }
}

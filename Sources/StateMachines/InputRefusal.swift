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
    /// The store cannot carry the input out now, for example because the program of its kind does
    /// not run. A client gets the error -32603.
    case unavailable
  }

  /// The kind of refusal, for programs.
  public var code: Code { content.code }
  /// The reason of the refusal, one sentence for users. It does not quote the input.
  public var message: String { content.message }
  /// The member of the input that is refused; nil for the whole input. If a child machine has
  /// refused the input, it is a member of the child's input.
  public var member: String? { content.member }
  /// The path to what is refused from the top of the input, as member names. It begins with the
  /// members that contain the inputs of child machines.
  public var path: [String] { content.containers + (member.map { [$0] } ?? []) }

  // A class, so that an input that is not refused costs only a null pointer.
  private final class Content: Sendable {
    let code: Code
    let message: String
    let member: String?
    let containers: [String]

    init(_ code: Code, _ message: String, member: String?, in containers: [String]) {
      (self.code, self.message, self.member, self.containers) = (code, message, member, containers)
    }
  }

  private let content: Content

  /// Creates a refusal.
  ///
  /// - Parameters:
  ///   - code: The kind of refusal, for programs.
  ///   - message: The reason, one sentence for users. It does not quote the input.
  ///   - member: The member of the input that is refused; nil for the whole input.
  public init(_ code: Code, _ message: String, member: String? = nil) {
    content = Content(code, message, member: member, in: [])
  }

  /// Creates a refusal of a part of an input.
  ///
  /// - Parameters:
  ///   - code: The kind of refusal, for programs.
  ///   - message: The reason, one sentence for users. It does not quote the input.
  ///   - path: The path to what is refused, from the top of the input.
  public init(_ code: Code, _ message: String, path: [String]) {
    content = Content(code, message, member: path.last, in: Array(path.dropLast()))
  }

  private init(_ content: Content) { self.content = content }

  /// Returns the refusal of an input that contains the refused one.
  ///
  /// - Parameter container: The member that contains the refused input; nil if it is not known, and
  ///   then the whole input is refused.
  func inside(_ container: String?) -> InputRefusal {
    InputRefusal(
      Content(
        code, message, member: container == nil ? nil : member,
        in: container.map { [$0] + content.containers } ?? []))
  }

  /// Returns true if code, message and path are the same.
  public static func == (one: InputRefusal, other: InputRefusal) -> Bool {
    one.code == other.code && one.message == other.message && one.path == other.path
  }
}

extension JSONError.Code {
  /// Creates the code of an error that reports a refusal.
  public init(_ code: InputRefusal.Code) {
    switch code {
    case .value: self = .value
    case .limit(let name): self.init(limit: name)
    case .unavailable: self = .unavailable
    }
  }
}

extension JSONError.Code {
  /// The store cannot carry an input out now.
  public static let unavailable = JSONError.Code(rawValue: "unavailable")
}
